#include "number.h"

#include <string.h>

/* Digits at *text, which moves behind them. False: none, or too many. */
static bool take_digits(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t n = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (p == *text)
		return false;
	*text = p;
	*out = n;
	return true;
}

bool number_count(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n;

	if (!take_digits(&text, &n) || *text != '\0' || n < min || n > max)
		return false;
	*out = n;
	return true;
}

/* How many times the suffix at *text multiplies, 0 for one that is unknown. */
static uint64_t take_suffix(const char **text, uint64_t thousand)
{
	static const char suffixes[] = "kMG";
	uint64_t factor = 1;
	const char *at;

	if (**text == '\0' || **text == 'B')
		return 1;
	at = strchr(suffixes, **text == 'K' ? 'k' : **text);
	if (at == NULL)
		return 0;
	for (const char *p = suffixes; p <= at; p++)
		factor *= thousand;
	(*text)++;
	return factor;
}

static bool read_many(const char *text, uint64_t thousand, uint64_t max,
		      uint64_t *out)
{
	uint64_t n;
	uint64_t factor;

	if (!take_digits(&text, &n))
		return false;
	factor = take_suffix(&text, thousand);
	if (thousand == 1024 && *text == 'B')
		text++;
	if (factor == 0 || *text != '\0' || n > max / factor)
		return false;
	*out = n * factor;
	return true;
}

bool number_size(const char *text, uint64_t max, uint64_t *out)
{
	return read_many(text, 1024, max, out);
}

bool number_many(const char *text, uint64_t max, uint64_t *out)
{
	return read_many(text, 1000, max, out);
}

typedef struct unit {
	const char *name;
	uint64_t ms;
} unit;

static const unit units[] = { { "", 1000 },
			      { "s", 1000 },
			      { "ms", 1 },
			      { "m", 60000 },
			      { "h", 3600000 } };

/* Digits behind a point, as thousandths; what is finer is dropped. */
static bool take_fraction(const char **text, uint64_t *thousandths)
{
	uint64_t n = 0;
	uint64_t place = 100;

	if (**text != '.')
		return true;
	(*text)++;
	if (**text < '0' || **text > '9')
		return false;
	for (; **text >= '0' && **text <= '9'; (*text)++) {
		n += (uint64_t)(**text - '0') * place;
		place /= 10;
	}
	*thousandths = n;
	return true;
}

bool number_time(const char *text, uint64_t max_ms, uint64_t *out_ms)
{
	uint64_t whole;
	uint64_t part = 0;

	if (!take_digits(&text, &whole) || !take_fraction(&text, &part))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t ms = units[i].ms;

		if (strcmp(text, units[i].name) != 0)
			continue;
		if (whole > max_ms / ms)
			return false;
		*out_ms = whole * ms + part * ms / 1000;
		return *out_ms <= max_ms;
	}
	return false;
}
