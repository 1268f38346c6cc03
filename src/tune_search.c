#include "tune_search.h"

#include <string.h>

enum {
	/* The window with which sizes are tried. */
	FIRST_WINDOW = 2,
	/* Two looks say that a setting breaks the bound. */
	BROKEN_LOOKS = 2,
	/* In 100: as fast; worth another look. */
	ALIKE = 3,
	CLOSE = 10,
	/* So many times what the kindest setting does is the setting's own
	 * doing, and not that of a machine that is busy anyway. */
	WORSE = 2
};

static const size_t all_chunks[] = { 1,	  2,   5,   10,	  20,	50,
				     100, 200, 500, 1000, 2000, 5000 };
static const size_t all_windows[TUNE_WINDOWS] = { 1, 2, 3, 4, 6, 8, 16 };

/* ------------------------------------------------------------ what is known -- */

static size_t flight_of(tune_setting t)
{
	return t.chunk * t.window;
}

static bool alike(tune_setting a, tune_setting b)
{
	return a.chunk == b.chunk && a.window == b.window;
}

static const tune_seen *find(const tune_search *s, tune_setting t)
{
	for (size_t i = 0; i < s->nseen; i++) {
		if (alike(s->seen[i].setting, t))
			return &s->seen[i];
	}
	return NULL;
}

static bool keeps(const tune_search *s, const tune_seen *e)
{
	return e->rate > 0 && e->p99_ns <= s->bound_ns;
}

/* It breaks the bound, and because of what it is. */
static bool breaks(const tune_search *s, const tune_seen *e)
{
	const tune_seen *gentlest = tune_search_gentlest(s);

	if (e->looks < BROKEN_LOOKS || keeps(s, e))
		return false;
	return gentlest == NULL || e->rate == 0 ||
	       e->p99_ns / WORSE > gentlest->p99_ns;
}

/* Whether something that is no larger is known to break the bound. */
static bool excluded(const tune_search *s, tune_setting t)
{
	if (t.window > 1 && flight_of(t) > s->most_flight)
		return true;
	for (size_t i = 0; i < s->nseen; i++) {
		const tune_seen *e = &s->seen[i];

		if (e->setting.chunk <= t.chunk &&
		    e->setting.window <= t.window && breaks(s, e))
			return true;
	}
	return false;
}

static uint64_t middle(const uint64_t *values, unsigned n)
{
	uint64_t sorted[TUNE_LOOKS] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned k = i;

		for (; k > 0 && sorted[k - 1] > values[i]; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = values[i];
	}
	return sorted[(n - 1) / 2];
}

void tune_search_tell(tune_search *s, tune_setting t, uint64_t rate,
		      uint64_t p99_ns)
{
	size_t i = 0;
	tune_seen *e;

	while (i < s->nseen && !alike(s->seen[i].setting, t))
		i++;
	if (i == sizeof(s->seen) / sizeof(s->seen[0]))
		return;
	e = &s->seen[i];
	if (i == s->nseen) {
		*e = (tune_seen){ .setting = t };
		s->nseen++;
	}
	if (e->looks == TUNE_LOOKS)
		return;
	e->rates[e->looks] = rate;
	e->p99s[e->looks++] = p99_ns;
	e->rate = middle(e->rates, e->looks);
	e->p99_ns = middle(e->p99s, e->looks);
}

const tune_seen *tune_search_best(const tune_search *s)
{
	const tune_seen *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < s->nseen; i++) {
		if (keeps(s, &s->seen[i]) && s->seen[i].rate > most)
			most = s->seen[i].rate;
	}
	for (size_t i = 0; i < s->nseen; i++) {
		const tune_seen *e = &s->seen[i];

		if (!keeps(s, e) || e->rate < most - most / 100 * ALIKE)
			continue;
		if (best == NULL ||
		    flight_of(e->setting) < flight_of(best->setting))
			best = e;
	}
	return best;
}

const tune_seen *tune_search_gentlest(const tune_search *s)
{
	const tune_seen *best = NULL;

	for (size_t i = 0; i < s->nseen; i++) {
		const tune_seen *e = &s->seen[i];

		if (e->rate > 0 && (best == NULL || e->p99_ns < best->p99_ns))
			best = e;
	}
	return best;
}

/* ----------------------------------------------------------- what to try next -- */

void tune_search_init(tune_search *s, size_t most_chunk, size_t most_flight,
		      uint64_t bound_ns)
{
	size_t n = sizeof(all_chunks) / sizeof(all_chunks[0]);

	memset(s, 0, sizeof(*s));
	s->most_flight = most_flight;
	s->bound_ns = bound_ns;
	while (n > 1 && all_chunks[n - 1] > most_chunk)
		n--;
	s->nchunks = n < TUNE_CHUNKS ? n : TUNE_CHUNKS;
	memcpy(s->chunks, all_chunks + n - s->nchunks,
	       s->nchunks * sizeof(s->chunks[0]));
	s->nwindows = TUNE_WINDOWS;
	memcpy(s->windows, all_windows, sizeof(s->windows));
}

static bool is_new(const tune_search *s, tune_setting t)
{
	return find(s, t) == NULL && !excluded(s, t);
}

/* A setting that broke the bound once. */
static bool next_doubt(const tune_search *s, tune_setting *out)
{
	for (size_t i = 0; i < s->nseen; i++) {
		const tune_seen *e = &s->seen[i];

		if (!keeps(s, e) && e->looks < BROKEN_LOOKS) {
			*out = e->setting;
			return true;
		}
	}
	return false;
}

static bool next_chunk(const tune_search *s, size_t window, tune_setting *out)
{
	for (size_t i = 0; i < s->nchunks; i++) {
		*out = (tune_setting){ s->chunks[i], window };
		if (is_new(s, *out))
			return true;
	}
	return false;
}

static bool next_window(const tune_search *s, size_t chunk, tune_setting *out)
{
	for (size_t i = 0; i < s->nwindows; i++) {
		*out = (tune_setting){ chunk, s->windows[i] };
		if (is_new(s, *out))
			return true;
	}
	return false;
}

static size_t place_of(const size_t *values, size_t n, size_t value)
{
	size_t i = 0;

	while (i + 1 < n && values[i] != value)
		i++;
	return i;
}

static bool next_beside(const tune_search *s, tune_setting t, tune_setting *out)
{
	size_t c = place_of(s->chunks, s->nchunks, t.chunk);
	size_t w = place_of(s->windows, s->nwindows, t.window);

	for (size_t i = c > 0 ? c - 1 : 0; i <= c + 1 && i < s->nchunks; i++) {
		for (size_t k = w > 0 ? w - 1 : 0;
		     k <= w + 1 && k < s->nwindows; k++) {
			*out = (tune_setting){ s->chunks[i], s->windows[k] };
			if (is_new(s, *out))
				return true;
		}
	}
	return false;
}

/* The one with the fewest looks of those that may be the best. */
static bool next_again(const tune_search *s, const tune_seen *best,
		       tune_setting *out)
{
	unsigned fewest = TUNE_LOOKS;

	for (size_t i = 0; i < s->nseen; i++) {
		const tune_seen *e = &s->seen[i];

		if (keeps(s, e) && e->looks < fewest &&
		    e->rate >= best->rate - best->rate / 100 * CLOSE) {
			fewest = e->looks;
			*out = e->setting;
		}
	}
	return fewest < TUNE_LOOKS;
}

bool tune_search_next(const tune_search *s, tune_setting *out)
{
	const tune_seen *best = tune_search_best(s);
	const tune_seen *from = best != NULL ? best : tune_search_gentlest(s);

	if (next_doubt(s, out) || next_chunk(s, FIRST_WINDOW, out))
		return true;
	/* Where two in flight are too many everywhere, or too large. */
	if (from == NULL || best == NULL) {
		if (next_chunk(s, 1, out))
			return true;
	}
	if (best == NULL)
		return false;
	return next_window(s, best->setting.chunk, out) ||
	       next_beside(s, best->setting, out) || next_again(s, best, out);
}
