/*
 * Entries to chunks, by count, arguments and exact bytes. Pure: the next chunk
 * is cut when it is about to be sent, with the bounds known by then, and
 * nothing is copied or kept.
 */
#ifndef RBI_PLAN_H
#define RBI_PLAN_H

#include "batch.h"

/* A value in an answer has no more than this around it. */
#define RBI_PLAN_REPLY_FRAME 16

typedef struct rbi_bounds {
	size_t keys;	      /* the most entries, at least 1 */
	size_t args;	      /* the most arguments of a command */
	size_t request_bytes; /* of a chunk as sent */
	size_t reply_bytes;   /* of its answer, as predicted */
	size_t entry_reply;   /* predicted of one entry; 0: not known */
	size_t largest;	      /* leave room for one as large as this */
} rbi_bounds;

/*
 * Entries first .. first + count - 1 of a batch, and their bytes as sent. What
 * changes a cut by hand has it measured anew by rbi_plan_part().
 *
 * A gathered cut of a batch with slots has several commands, one for each
 * group: a run of entries of one slot, but of no more than group_max. Where
 * the groups end follows from the cut alone, see rbi_plan_group(). So a part
 * of a cut has the same groups only if it begins where one does.
 */
typedef struct rbi_cut {
	const rbi_batch *batch;
	size_t first;
	size_t count;
	size_t request_bytes;
	size_t group_max; /* 0: a group ends with its slot only */
	size_t ngroups;	  /* groups or units; 0: not counted yet */
	bool alone;	  /* each entry is a command, whatever its slot */
	/* ASKING stands before each command; before MULTI it covers all up to
	 * EXEC. */
	bool asking;
} rbi_cut;

/*
 * A chunk being filled: entry after entry until one does not fit. Whoever does
 * not know all entries beforehand fills chunks with this.
 */
typedef struct rbi_sizer {
	size_t max_count;
	size_t count;
	size_t body;   /* bytes of the entries */
	size_t room;   /* bytes left */
	size_t argc;   /* of a gathered command */
	size_t longer; /* with so many arguments its header grows by a digit */
	size_t entry_args;
} rbi_sizer;

/* By value, so that a loop over a sizer can keep it in registers. */
rbi_sizer rbi_sizer_make(const rbi_batch *b, const rbi_bounds *bounds);

/*
 * Takes in one unit of count entries and size bytes. False: it does not fit,
 * and was not taken in. The first one always fits.
 */
static inline bool rbi_sizer_add(rbi_sizer *s, size_t count, size_t size)
{
	size_t need = size;

	s->argc += s->entry_args;
	while (RBI_UNLIKELY(s->argc >= s->longer)) {
		s->longer *= 10;
		need = rbi_add_sat(need, 1);
	}
	if (RBI_UNLIKELY(need > s->room ||
			 rbi_add_sat(s->count, count) > s->max_count)) {
		if (s->count > 0)
			return false;
		s->room = need;
	}
	s->room -= need;
	s->body = rbi_add_sat(s->body, size);
	s->count += count;
	return true;
}

/*
 * The chunk that begins with entry first, which there is. It has one entry at
 * least, whatever the bounds, and never a part of a unit.
 */
rbi_cut rbi_plan_cut(const rbi_batch *b, size_t first,
		     const rbi_bounds *bounds);

/* The first entries of a cut, as many as are within other bounds by now, sent
 * in the same way. */
rbi_cut rbi_plan_cut_again(const rbi_cut *cut, const rbi_bounds *bounds);

/* count entries of a cut, behind its first skip ones, sent in the same way. */
rbi_cut rbi_plan_part(const rbi_cut *cut, size_t skip, size_t count);

/* The most that the answer to the next cut is predicted to take. */
size_t rbi_plan_most_reply(const rbi_batch *b, const rbi_bounds *bounds);

/* The predicted bytes of the answer to a cut. */
size_t rbi_plan_reply(const rbi_cut *cut, size_t entry_reply);

/* Whether a cut that is one command has keys of several slots. */
bool rbi_plan_mixes_slots(const rbi_cut *cut);

/*
 * Whether the entries of a cut that is gathered go in groups, so that it may
 * have several commands.
 */
static inline bool rbi_plan_is_grouped(const rbi_cut *cut)
{
	return cut->batch->form == RBI_FORM_GATHER &&
	       (cut->batch->slots != NULL || cut->alone);
}

/* Whether some of a cut's entries may be run and others not, by where its bytes
 * end. */
static inline bool rbi_plan_is_divisible(const rbi_cut *cut)
{
	return !cut->batch->transaction &&
	       (cut->batch->form != RBI_FORM_GATHER ||
		rbi_plan_is_grouped(cut));
}

/* The name of a gathered command of count entries of a cut. */
static inline const rb_slice *rbi_plan_name(const rbi_cut *cut, size_t count)
{
	const rbi_batch *b = cut->batch;

	return count == 1 && b->single.data != NULL &&
			       rbi_plan_is_grouped(cut) ?
		       &b->single :
		       &b->command;
}

/*
 * How many entries the command has that begins behind the first skip entries
 * of a cut, where there are more: those of a group, or all; otherwise one, or
 * a MULTI with all up to its EXEC, which go together.
 */
size_t rbi_plan_group(const rbi_cut *cut, size_t skip);

/* The commands that a cut's entries are in. */
size_t rbi_plan_own_commands(const rbi_cut *cut);

/* All commands of a cut as they are billed: ASKING, MULTI and EXEC too. */
size_t rbi_plan_commands(const rbi_cut *cut);

/*
 * The first entries of a cut, at most count, that no unit goes beyond; nor a
 * group whose entries are not answered one by one.
 */
size_t rbi_plan_units(const rbi_cut *cut, size_t count);

/*
 * How many entries of a cut of several commands, which is no transaction, have
 * left with the first sent bytes of it, and how many bytes those are. Those of
 * a unit or a group leave together, with the ASKING before them.
 */
size_t rbi_plan_sent(const rbi_cut *cut, uint64_t sent, size_t *bytes);

#endif
