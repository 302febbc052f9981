/* The inner loops of search, in plain C: no Python, no global state, no instruction set assumed.
 *
 * A list is a stretch of postings: the numbers of documents, each larger than the one before. The
 * lists of a query are read side by side in blocks of documents whose sums fit into the cache of
 * a core, so that no array as long as the collection is needed.
 *
 * Lists come from files that strangers may have made. Every stretch is checked before it counts
 * (it rises, and it lies inside its block), and the places that are written to are cut down to the
 * size of a block as well, so that a file that changes in between can spoil sums and nothing else.
 *
 * All sums of floats are made in the order in which plain.py makes them, without fused
 * multiplication (-ffp-contract=off): both give the same bits.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__GNUC__)
#define LOWEST_BIT(word) __builtin_ctzll(word)
#else
static int lowest_bit(uint64_t word) {
    int bit = 0;
    while (!(word >> bit & 1)) bit++;
    return bit;
}
#define LOWEST_BIT(word) lowest_bit(word)
#endif

enum { FINE = 0, NO_MEMORY = 1, NOT_RISING = 2 };

/* Powers of two, so that a bit mask cuts a document's number down to its place in a block. */
#define BLOCK 16384
#define BLOCK_OF_POSTS 65536
/* Documents of which it is asked at once whether any has a score that counts. */
#define RUN 128
/* So many products of an 8-bit and a 15-bit number fit into 32 bits. */
#define CHUNK 1024
/* Half of the digits of a query's number; see whole_dots. */
#define HALF 128
/* Room for more than the best, at most. */
#define MOST_MORE (1 << 20)
/* To look a document up takes as long as to read so many postings. */
#define LOOKING_UP 8
/* Where there are so many blocks, one of so many is read first, to learn which scores count. */
#define MANY_BLOCKS 48
#define SAMPLE 16
/* How many rows ahead memory is asked for. */
#define AHEAD 8

/* ---- The best documents ---------------------------------------------------------------- */

/* The best seen so far, in no order, and room for more: each time the room is full, the worse half
 * goes. A document is one number, larger for a better one: the bits of its score, which is above
 * zero, and below them what its own number lacks to the largest. Ties go to the lower number. */
typedef struct {
    uint64_t *kept;
    int64_t size, wanted, room;
    float limit; /* a score up to this does not count */
} Best;

static int begin_best(Best *best, int64_t wanted, float floor) {
    int64_t more = wanted < MOST_MORE ? wanted : MOST_MORE;
    *best = (Best){NULL, 0, wanted, wanted + more, wanted ? floor : INFINITY};
    best->kept = malloc((size_t)(best->room ? best->room : 1) * sizeof *best->kept);
    return best->kept != NULL;
}

static float score_of(uint64_t entry) {
    uint32_t bits = (uint32_t)(entry >> 32);
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

static inline void swap(uint64_t *one, uint64_t *other) {
    uint64_t entry = *one;
    *one = *other;
    *other = entry;
}

/* Divide entries, of which there are two or more, at one of them: what is larger stands before the
 * place that is given, and it stands there itself. Which one it is nobody can foresee, so that no
 * file can be made to take long. */
static int64_t divide(uint64_t *entries, int64_t count, uint64_t *chance) {
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    swap(entries, entries + (int64_t)((*chance >> 33) % (uint64_t)count));
    uint64_t middle = entries[0];
    int64_t place = 0;
    for (int64_t at = 1; at < count; at++) {
        if (entries[at] > middle) swap(entries + ++place, entries + at);
    }
    swap(entries, entries + place);
    return place;
}

/* Bring the largest entries to the front, as many as are wanted, in no order. */
static void bring_forward(uint64_t *entries, int64_t count, int64_t wanted, uint64_t *chance) {
    while (wanted > 0 && wanted < count) {
        int64_t place = divide(entries, count, chance);
        if (place >= wanted) {
            count = place;
        } else {
            entries += place + 1;
            count -= place + 1;
            wanted -= place + 1;
        }
    }
}

static void sort_down(uint64_t *entries, int64_t count, uint64_t *chance) {
    while (count > 16) {
        int64_t place = divide(entries, count, chance);
        /* The shorter side by a call, the longer one here: calls are never deep. */
        if (place < count - place) {
            sort_down(entries, place, chance);
            entries += place + 1;
            count -= place + 1;
        } else {
            sort_down(entries + place + 1, count - place - 1, chance);
            count = place;
        }
    }
    for (int64_t at = 1; at < count; at++) {
        for (int64_t to = at; to && entries[to] > entries[to - 1]; to--) {
            swap(entries + to, entries + to - 1);
        }
    }
}

static uint64_t chance_of(const Best *best) { return (uint64_t)(uintptr_t)best->kept | 1; }

/* Take a document whose score is above the limit; documents come in rising order. */
static void take(Best *best, int64_t number, float score) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    best->kept[best->size++] = (uint64_t)bits << 32 | (uint32_t)(UINT32_MAX - (uint32_t)number);
    if (best->size < best->room) return;
    uint64_t chance = chance_of(best), worst = UINT64_MAX;
    bring_forward(best->kept, best->size, best->wanted, &chance);
    best->size = best->wanted;
    for (int64_t at = 0; at < best->size; at++) {
        if (best->kept[at] < worst) worst = best->kept[at];
    }
    best->limit = score_of(worst);
}

/* Write the best, the best first; gives how many there are. */
static int64_t end_best(Best *best, int64_t *numbers, float *scores) {
    uint64_t chance = chance_of(best);
    bring_forward(best->kept, best->size, best->wanted, &chance);
    if (best->size > best->wanted) best->size = best->wanted;
    sort_down(best->kept, best->size, &chance);
    for (int64_t at = 0; at < best->size; at++) {
        numbers[at] = UINT32_MAX - (uint32_t)best->kept[at];
        scores[at] = score_of(best->kept[at]);
    }
    free(best->kept);
    return best->size;
}

static void take_block(Best *best, const float *scores, int64_t first, int64_t count,
                       const uint8_t *allowed) {
    for (int64_t begin = 0; begin < count; begin += RUN) {
        int64_t end = begin + RUN < count ? begin + RUN : count;
        float limit = best->limit;
        int any = 0;
        for (int64_t at = begin; at < end; at++) any |= scores[at] > limit;
        if (!any) continue;
        for (int64_t at = begin; at < end; at++) {
            if (scores[at] > best->limit && (!allowed || allowed[first + at])) {
                take(best, first + at, scores[at]);
            }
        }
    }
}

/* ---- Lists of postings ----------------------------------------------------------------- */

/* What is still to be read of a list. */
typedef struct {
    int64_t next, end;
    int64_t document; /* the next document, or past all where there is none */
} Rest;

static Rest rest_of(const int32_t *documents, int64_t next, int64_t end) {
    Rest rest = {next, end, next < end ? documents[next] : INT64_MAX};
    return rest;
}

static Rest *all_lists(const int32_t *documents, const int64_t *ranges, int64_t lists) {
    Rest *rests = malloc((size_t)(lists ? lists : 1) * sizeof *rests);
    for (int64_t list = 0; rests && list < lists; list++) {
        rests[list] = rest_of(documents, ranges[2 * list], ranges[2 * list + 1]);
    }
    return rests;
}

/* The first place of a stretch whose document is not below a limit: ever longer steps, then
 * halving. A stretch that does not rise gives some place of it, or its end. */
static int64_t first_from(const int32_t *documents, int64_t begin, int64_t end, int64_t limit,
                          int64_t step) {
    int64_t upper = begin;
    while (upper < end && documents[upper] < limit) {
        begin = upper + 1;
        upper = end - upper > step ? upper + step : end;
        step *= 2;
    }
    while (begin < upper) {
        int64_t middle = begin + (upper - begin) / 2;
        if (documents[middle] < limit) {
            begin = middle + 1;
        } else {
            upper = middle;
        }
    }
    return begin;
}

static int is_rising(const int32_t *documents, int64_t begin, int64_t end) {
    int wrong = 0;
    for (int64_t at = begin + 1; at < end; at++) wrong |= documents[at] <= documents[at - 1];
    return !wrong;
}

/* Go past the documents of a list that lie in a block. The stretch is [*begin, rest->next), or
 * empty; 0 where it does not rise, or begins before the block. */
static int stretch(const int32_t *documents, Rest *rest, int64_t low, int64_t high,
                   int64_t *begin) {
    *begin = rest->next;
    if (rest->document >= high) return 1;
    int64_t end = first_from(documents, rest->next, rest->end, high, 64);
    if (rest->document < low || !is_rising(documents, *begin, end)) return 0;
    *rest = rest_of(documents, end, rest->end);
    return 1;
}

/* The place of a document in the rest of a list, which is moved there; -1 where it is missing. */
static int64_t find(const int32_t *documents, Rest *rest, int64_t document) {
    rest->next = first_from(documents, rest->next, rest->end, document, 1);
    return rest->next < rest->end && documents[rest->next] == document ? rest->next : -1;
}

/* Whether every list was read to its end; one that was not goes on past the last document. */
static int all_read(const Rest *rests, int64_t lists) {
    for (int64_t list = 0; list < lists; list++) {
        if (rests[list].next != rests[list].end) return 0;
    }
    return 1;
}

/* The bytes of the values of some documents, one list after the other; 0 where they are missing. */
static void gather(const int32_t *documents, const char *values, int64_t size,
                   const int64_t *ranges, int64_t lists, const int64_t *wanted, int64_t count,
                   char *found) {
    for (int64_t list = 0; list < lists; list++) {
        Rest rest = rest_of(documents, ranges[2 * list], ranges[2 * list + 1]);
        for (int64_t at = 0; at < count; at++, found += size) {
            int64_t place = find(documents, &rest, wanted[at]);
            if (place < 0) {
                memset(found, 0, (size_t)size);
            } else {
                memcpy(found, values + place * size, (size_t)size);
            }
        }
    }
}

/* ---- Words and formulas ---------------------------------------------------------------- */

/* What is asked for: lists in some order, and what each adds to the score of a document that it
 * holds, by the value that stands beside the document there.
 *
 * Words have values of a byte and no masses: the score of a document is the sum. For the features
 * of a formula it is the sum over the mean of both masses (Dice). */
typedef struct {
    const int64_t *ranges;
    const float *counts, *rarities; /* of the features of a formula */
    int64_t lists;
    float *tables; /* what each list adds for each value that a byte holds */
    float *rest;   /* what the lists from each one on can add to a sum at most */
    const float *masses, *bounds; /* bounds: the least and the largest mass of each block, or NULL */
    float mass;
} Asked;

/* What a feature adds: what both formulas have of it. */
static inline float shared(float frequency, float count, float rarity) {
    return rarity * (count < frequency ? count : frequency);
}

static inline float added(const Asked *asked, int64_t list, const void *values, int small,
                          int64_t at) {
    if (small) return asked->tables[256 * list + ((const uint8_t *)values)[at]];
    return shared(((const float *)values)[at], asked->counts[list], asked->rarities[list]);
}

/* Reckon what lists add; `weights` are those of words, or NULL. Gives 0 where there is no memory. */
static int prepare(Asked *asked, const float *weights) {
    int64_t lists = asked->lists;
    asked->tables = malloc((size_t)(lists ? lists : 1) * 256 * sizeof *asked->tables);
    asked->rest = malloc((size_t)(lists + 1) * sizeof *asked->rest);
    if (!asked->tables || !asked->rest) return 0;
    asked->rest[lists] = 0;
    for (int64_t list = lists; list--;) {
        float *table = asked->tables + 256 * list;
        for (int value = 0; value < 256; value++) {
            table[value] = weights ? weights[list] * (float)value
                                   : shared((float)value, asked->counts[list],
                                            asked->rarities[list]);
        }
        float most = weights ? table[255] : asked->rarities[list] * asked->counts[list];
        /* Slack for rounding. */
        asked->rest[list] = asked->rest[list + 1] + (most > 0 ? most * (1 + 1e-5f) : 0);
    }
    return 1;
}

static void discard(Asked *asked) {
    free(asked->tables);
    free(asked->rest);
}

static inline float likeness(float sum, float mass, float other) {
    float both = mass + other;
    return 2.0f * sum / (both < 1e-9f ? 1e-9f : both);
}

/* What the sum of a document of a block must be above to count: that of the lightest formula there.
 * Rounding is on the side of those that may count. */
static float least_sum(const Asked *asked, int64_t block, float limit) {
    if (!asked->masses) return limit * (1 - 1e-5f);
    float lightest = asked->bounds ? asked->bounds[2 * block] : -INFINITY;
    float least = limit * (0.5f - 1e-5f) * (lightest + asked->mass);
    return isnan(least) ? -INFINITY : least; /* a damaged mass tells nothing */
}

/* How many lists of a block have to be read: no document that is in none of them can count. */
static int64_t lists_to_read(const Asked *asked, int64_t block, float limit) {
    int64_t lists = asked->lists;
    limit *= 1 - 1e-5f;
    for (; lists; lists--) {
        float rest = asked->rest[lists - 1];
        if (asked->masses) {
            /* What features add is part of a formula's mass. */
            float least = rest, most = rest;
            if (asked->bounds) {
                float lightest = asked->bounds[2 * block], heaviest = asked->bounds[2 * block + 1];
                least = lightest > rest ? lightest : rest;
                if (heaviest < rest) least = most = heaviest;
            }
            if (!(2 * most <= limit * (least + asked->mass))) break;
        } else if (!(rest <= limit)) {
            break;
        }
    }
    return lists;
}

/* Where to begin: at formulas as heavy as the one that is asked for, if their order tells where
 * they are. The limit is high then when the others come. */
static int64_t first_block(const Asked *asked, int64_t blocks) {
    int64_t block = 0;
    if (!asked->bounds) return 0;
    while (block < blocks && asked->bounds[2 * block + 1] < asked->mass) block++;
    return block < blocks ? block : 0;
}

/* The sums of a block of documents, and which of them may count. */
typedef struct {
    float *sums;      /* zero, where no block is being read */
    int32_t *touched; /* documents with a sum, in any order and some twice; then those that may
                         count, in order */
    int64_t *begins;  /* where the stretch of each list begins in this block */
    uint64_t *marks;
} Block;

static int begin_block(Block *block, int64_t lists) {
    block->sums = calloc(BLOCK, sizeof *block->sums);
    block->touched = malloc(BLOCK * sizeof *block->touched);
    block->begins = malloc((size_t)(lists ? lists : 1) * sizeof *block->begins);
    block->marks = calloc(BLOCK / 64, sizeof *block->marks);
    return block->sums && block->touched && block->begins && block->marks;
}

static void end_block(Block *block) {
    free(block->sums);
    free(block->touched);
    free(block->begins);
    free(block->marks);
}

/* Add what a list adds to the documents of a stretch. */
static void add_list(const Asked *asked, int64_t list, const int32_t *documents,
                     const void *values, int small, int64_t at, int64_t end, float *sums) {
    const float *table = asked->tables + 256 * list;
    const uint8_t *bytes = values;
    for (; small && at < end; at++) sums[documents[at] & (BLOCK - 1)] += table[bytes[at]];
    for (; at < end; at++) {
        sums[documents[at] & (BLOCK - 1)] += added(asked, list, values, 0, at);
    }
}

/* Add up the stretches of the lists that are read, which have few documents; which ones have a sum
 * is written down, so that no others are looked at. */
static int64_t add_few(const Asked *asked, const int32_t *documents, const void *values, int small,
                       const Rest *rests, int64_t read, Block *block) {
    int64_t size = 0;
    for (int64_t list = 0; list < read; list++) {
        for (int64_t at = block->begins[list]; at < rests[list].next; at++) {
            int32_t place = documents[at] & (BLOCK - 1);
            /* Written whether it is new or not: to ask first would take longer. */
            block->touched[size] = place;
            size += block->sums[place] == 0;
            block->sums[place] += added(asked, list, values, small, at);
        }
    }
    return size;
}

/* Of documents in any order, those that may count: marked, then read off in order. */
static int64_t keep_few(float least, int64_t size, Block *block) {
    int64_t kept = 0;
    for (int64_t at = 0; at < size; at++) {
        int32_t place = block->touched[at];
        float sum = block->sums[place];
        uint64_t may = (sum > 0) & (sum > least);
        block->marks[place / 64] |= may << place % 64;
    }
    /* The others are zero again. */
    for (int64_t at = 0; at < size; at++) {
        int32_t place = block->touched[at];
        if (!(block->marks[place / 64] >> place % 64 & 1)) block->sums[place] = 0;
    }
    for (int64_t word = 0; word < BLOCK / 64; word++) {
        for (uint64_t marks = block->marks[word]; marks; marks &= marks - 1) {
            block->touched[kept++] = (int32_t)(64 * word + LOWEST_BIT(marks));
        }
        block->marks[word] = 0;
    }
    return kept;
}

/* The same where the stretches have many documents: all of the block are looked at. */
static int64_t add_many(const Asked *asked, const int32_t *documents, const void *values,
                        int small, const Rest *rests, int64_t read, int64_t count, float least,
                        Block *block) {
    for (int64_t list = 0; list < read; list++) {
        add_list(asked, list, documents, values, small, block->begins[list], rests[list].next,
                 block->sums);
    }
    int64_t kept = 0;
    for (int64_t at = 0; at < count; at++) {
        float sum = block->sums[at];
        int may = (sum > 0) & (sum > least);
        block->touched[kept] = (int32_t)at;
        kept += may;
        if (!may) block->sums[at] = 0;
    }
    return kept;
}

/* Go to a block in a list of which blocks before may have been left out. */
static void go_to(const int32_t *documents, Rest *rest, int64_t low) {
    if (rest->document >= low) return;
    *rest = rest_of(documents, first_from(documents, rest->next, rest->end, low, 64), rest->end);
}

/* The best documents by what lists add.
 *
 * Lists come in some order, the rare ones first, if the caller is wise. Once enough documents are
 * known, one that is in none of the first lists cannot be among the best any more: what the last
 * ones add is too little. Those, which are the long ones, are then looked up for the documents
 * alone that may still count. The result is that of reading everything, as long as no formula's
 * mass is less than what its features add up to.
 *
 * Only one block of every `step` is read. */
static int best_of_blocks(const int32_t *documents, const void *values, int small,
                          const Asked *asked, int64_t count, int64_t step, const uint8_t *allowed,
                          Best *best) {
    Rest *rests = all_lists(documents, asked->ranges, asked->lists);
    Block block;
    int state = begin_block(&block, asked->lists) && rests ? FINE : NO_MEMORY;
    int64_t blocks = (count + BLOCK - 1) / BLOCK, begin = first_block(asked, blocks);
    int64_t always_read = step == 1 ? asked->lists : 0;
    float floor = best->limit;
    for (int64_t turn = 0; state == FINE && turn < blocks; turn++) {
        int64_t number = turn < blocks - begin ? begin + turn : turn - (blocks - begin);
        if (number % step) continue;
        int64_t low = number * BLOCK, high = low + BLOCK < count ? low + BLOCK : count;
        float least = least_sum(asked, number, best->limit);
        int64_t read = lists_to_read(asked, number, best->limit), postings = 0;
        if (read < always_read) always_read = read;
        if (turn && !number) {
            /* Back to what was passed over. */
            for (int64_t list = 0; list < asked->lists; list++) {
                rests[list] = rest_of(documents, asked->ranges[2 * list],
                                      asked->ranges[2 * list + 1]);
            }
        }
        for (int64_t list = 0; list < read; list++) {
            Rest *rest = &rests[list];
            /* A list that is read in every block has no document before this one. */
            if (low && (list >= always_read || turn == 0)) go_to(documents, rest, low);
            if (!stretch(documents, rest, low, high, &block.begins[list])) {
                state = NOT_RISING;
                break;
            }
            postings += rest->next - block.begins[list];
        }
        if (state != FINE || !postings) continue;
        int64_t size;
        if (postings < BLOCK / 2) {
            size = add_few(asked, documents, values, small, rests, read, &block);
            size = keep_few(least - asked->rest[read], size, &block);
        } else {
            size = add_many(asked, documents, values, small, rests, read, high - low,
                            least - asked->rest[read], &block);
        }
        int all_zero = 1;
        float left = asked->rest[read]; /* when it was last asked which documents may count */
        for (int64_t list = read; size && list < asked->lists; list++) {
            Rest *rest = &rests[list];
            go_to(documents, rest, low);
            int64_t end = rest->document < high
                              ? first_from(documents, rest->next, rest->end, high, 64)
                              : rest->next;
            if (end - rest->next < LOOKING_UP * size) {
                /* Quicker than to look up, and it leaves sums behind where nobody looks. */
                add_list(asked, list, documents, values, small, rest->next, end, block.sums);
                all_zero = all_zero && rest->next == end;
                rest->next = end;
            }
            for (int64_t at = 0; at < size && rest->next < end; at++) {
                int64_t place = find(documents, rest, low + block.touched[at]);
                if (place >= 0) {
                    block.sums[block.touched[at]] += added(asked, list, values, small, place);
                }
            }
            *rest = rest_of(documents, rest->next, rest->end);
            /* The less is left to come, the fewer may still count. */
            if (asked->rest[list + 1] > 0.7f * left) continue;
            left = asked->rest[list + 1];
            int64_t before = size;
            size = 0;
            for (int64_t at = 0; at < before; at++) {
                int32_t place = block.touched[at];
                block.touched[size] = place;
                int may = block.sums[place] > least - left;
                size += may;
                if (!may) block.sums[place] = 0;
            }
        }
        for (int64_t at = 0; at < size; at++) {
            int64_t document = low + block.touched[at];
            float score = block.sums[block.touched[at]];
            block.sums[block.touched[at]] = 0;
            if (asked->masses) score = likeness(score, asked->masses[document], asked->mass);
            /* Blocks may come out of order, so that one equal to the limit may be before it. */
            if (score > floor && score >= best->limit && (!allowed || allowed[document])) {
                take(best, document, score);
            }
        }
        if (!all_zero) memset(block.sums, 0, BLOCK * sizeof *block.sums);
    }
    if (state == FINE && !begin && step == 1 && !all_read(rests, always_read)) state = NOT_RISING;
    free(rests);
    end_block(&block);
    return state;
}

/* A score that more documents than wanted have, most likely: as many of a sample have it as it
 * should hold of the best, and three standard deviations more. The old limit where it holds fewer. */
static int limit_of_sample(const int32_t *documents, const void *values, int small,
                           const Asked *asked, int64_t count, const uint8_t *allowed,
                           const Best *best, float *limit) {
    double share = (double)best->wanted / SAMPLE;
    Best sample;
    *limit = best->limit;
    if (!begin_best(&sample, (int64_t)(share + 3 * sqrt(share)) + 1, best->limit)) return NO_MEMORY;
    int state = best_of_blocks(documents, values, small, asked, count, SAMPLE, allowed, &sample);
    uint64_t chance = chance_of(&sample);
    if (sample.size >= sample.wanted) {
        bring_forward(sample.kept, sample.size, sample.wanted, &chance);
        uint64_t worst = UINT64_MAX;
        for (int64_t at = 0; at < sample.wanted; at++) {
            if (sample.kept[at] < worst) worst = sample.kept[at];
        }
        *limit = score_of(worst);
    }
    free(sample.kept);
    return state;
}

/* The best documents of all blocks. Much can be left unread once it is known which scores count, so
 * a sample is read first where there are many blocks of formulas. (Words have the best documents in
 * all blocks: there the first ones tell as much.) */
static int best_of_lists(const int32_t *documents, const void *values, int small,
                         const Asked *asked, int64_t count, const uint8_t *allowed, Best *best) {
    float floor = best->limit, limit = floor;
    int state = FINE;
    if (asked->masses && count > (int64_t)MANY_BLOCKS * BLOCK && best->wanted) {
        state = limit_of_sample(documents, values, small, asked, count, allowed, best, &limit);
    }
    if (state != FINE) return state;
    best->limit = limit;
    state = best_of_blocks(documents, values, small, asked, count, 1, allowed, best);
    if (state == FINE && limit > floor && best->size < best->wanted) {
        /* The sample was not like the rest: once more, without it. */
        best->size = 0;
        best->limit = floor;
        state = best_of_blocks(documents, values, small, asked, count, 1, allowed, best);
    }
    return state;
}

/* The same scores for some formulas alone; every one of them must have a mass. */
static void overlaps_of(const int32_t *documents, const void *values, int small,
                        const Asked *asked, const int64_t *wanted, int64_t count, float *scores) {
    memset(scores, 0, (size_t)count * sizeof *scores);
    for (int64_t list = 0; list < asked->lists; list++) {
        Rest rest = rest_of(documents, asked->ranges[2 * list], asked->ranges[2 * list + 1]);
        for (int64_t at = 0; at < count && rest.next < rest.end; at++) {
            int64_t place = find(documents, &rest, wanted[at]);
            if (place >= 0) scores[at] += added(asked, list, values, small, place);
        }
    }
    for (int64_t at = 0; at < count; at++) {
        scores[at] = likeness(scores[at], asked->masses[wanted[at]], asked->mass);
    }
}

/* The posts of formulas that were found for the formulas of a query. Of each group of formulas
 * (those found for one query formula) a post gets its best; groups are added by weight. */
static int best_posts(const int32_t *posts, const int64_t *ranges, const float *scores,
                      int64_t formulas, const int64_t *groups, const float *weights,
                      int64_t group_count, int64_t count, const uint8_t *allowed, Best *best) {
    Rest *rests = all_lists(posts, ranges, formulas);
    float *sums = malloc(2 * BLOCK_OF_POSTS * sizeof *sums), *own = sums + BLOCK_OF_POSTS;
    int state = rests && sums ? FINE : NO_MEMORY;
    for (int64_t low = 0; state == FINE && low < count; low += BLOCK_OF_POSTS) {
        int64_t high = low + BLOCK_OF_POSTS < count ? low + BLOCK_OF_POSTS : count;
        memset(sums, 0, BLOCK_OF_POSTS * sizeof *sums);
        for (int64_t group = 0; state == FINE && group < group_count; group++) {
            int touched = 0;
            for (int64_t formula = groups[group]; formula < groups[group + 1]; formula++) {
                int64_t at;
                float score = scores[formula];
                if (!stretch(posts, &rests[formula], low, high, &at)) {
                    state = NOT_RISING;
                    break;
                }
                if (at == rests[formula].next) continue;
                if (!touched) memset(own, 0, BLOCK_OF_POSTS * sizeof *own);
                touched = 1;
                for (int64_t end = rests[formula].next; at < end; at++) {
                    float *place = &own[posts[at] & (BLOCK_OF_POSTS - 1)];
                    if (score > *place) *place = score;
                }
            }
            if (!touched) continue;
            for (int64_t at = 0; at < BLOCK_OF_POSTS; at++) sums[at] += weights[group] * own[at];
        }
        if (state == FINE) take_block(best, sums, low, high - low, allowed);
    }
    if (state == FINE && !all_read(rests, formulas)) state = NOT_RISING;
    free(rests);
    free(sums);
    return state;
}

/* ---- Vectors --------------------------------------------------------------------------- */

/* Where the compiler and the machine know them, loops are compiled a second time with faster
 * instructions, and the machine is asked which ones it has when they are called. */
#if defined(__x86_64__) && defined(__GNUC__)
#define FASTER __attribute__((target("avx2,popcnt")))
static int has_faster(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#include <sys/auxv.h>
#define FASTER __attribute__((target("arch=armv8.2-a+dotprod")))
static int has_faster(void) { return (getauxval(AT_HWCAP) >> 20) & 1; /* HWCAP_ASIMDDP */ }
#else
#define FASTER
static int has_faster(void) { return 0; }
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define PREFETCH(place) __builtin_prefetch(place)
#else
#define INLINE static inline
#define PREFETCH(place) ((void)0)
#endif

INLINE int32_t distance(const uint64_t *one, const uint64_t *other, int64_t words) {
    int32_t bits = 0;
    int64_t word = 0;
#if defined(__aarch64__)
    /* Every such machine counts the bits of 16 bytes at once; 15 times 8 and as much again fit
     * into a byte. */
    while (word + 2 <= words) {
        int64_t end = word + 30 < words ? word + 30 : words;
        uint8x16_t counts = vdupq_n_u8(0);
        for (; word + 2 <= end; word += 2) {
            uint64x2_t differing = veorq_u64(vld1q_u64(one + word), vld1q_u64(other + word));
            counts = vaddq_u8(counts, vcntq_u8(vreinterpretq_u8_u64(differing)));
        }
        bits += vaddlvq_u8(counts);
    }
#endif
    for (; word < words; word++) {
#if defined(__GNUC__)
        bits += __builtin_popcountll(one[word] ^ other[word]);
#else
        for (uint64_t rest = one[word] ^ other[word]; rest; rest &= rest - 1) bits++;
#endif
    }
    return bits;
}

/* How many rows are how far, and how far each of a range is. */
INLINE void scan_signs(const uint64_t *signs, int64_t words, const uint64_t *query, int64_t begin,
                       int64_t end, int32_t *distances, int64_t *histogram) {
    for (int64_t row = begin; row < end; row++) {
        int32_t bits = distance(signs + row * words, query, words);
        distances[row - begin] = bits;
        histogram[bits]++;
    }
}

static void scan_signs_plain(const uint64_t *signs, int64_t words, const uint64_t *query,
                             int64_t begin, int64_t end, int32_t *distances, int64_t *histogram) {
    scan_signs(signs, words, query, begin, end, distances, histogram);
}

FASTER static void scan_signs_faster(const uint64_t *signs, int64_t words, const uint64_t *query,
                                     int64_t begin, int64_t end, int32_t *distances,
                                     int64_t *histogram) {
    /* The usual number of words known, the loop over them disappears. */
    if (words == 6) {
        scan_signs(signs, 6, query, begin, end, distances, histogram);
    } else {
        scan_signs(signs, words, query, begin, end, distances, histogram);
    }
}

/* The rows whose bits differ least from a query's, in fewer than so many, in the order of their
 * numbers; of those that are equally far, the first. */
static int nearest_signs(const uint64_t *signs, int64_t words, const uint64_t *query,
                         const int64_t *ranges, int64_t range_count, int64_t below,
                         int64_t *numbers, int32_t *distances, int64_t wanted, int64_t *found) {
    int64_t rows = 0, most = 64 * words + 1, nearer = 0, limit = 0, size = 0;
    for (int64_t at = 0; at < range_count; at++) rows += ranges[2 * at + 1] - ranges[2 * at];
    int32_t *every = malloc((size_t)(rows ? rows : 1) * sizeof *every), *own = every;
    int64_t *histogram = calloc((size_t)most, sizeof *histogram);
    int faster = has_faster();
    for (int64_t at = 0; every && histogram && at < range_count; at++) {
        (faster ? scan_signs_faster : scan_signs_plain)(signs, words, query, ranges[2 * at],
                                                        ranges[2 * at + 1], own, histogram);
        own += ranges[2 * at + 1] - ranges[2 * at];
    }
    if (below > most) below = most;
    while (every && histogram && limit < below && nearer + histogram[limit] <= wanted) {
        nearer += histogram[limit++];
    }
    /* All that are nearer than the limit, and the first of those that are as far, if these count. */
    int64_t equal = limit < below ? wanted - nearer : 0;
    own = every;
    for (int64_t at = 0; every && histogram && at < range_count; at++) {
        for (int64_t row = ranges[2 * at]; row < ranges[2 * at + 1]; row++, own++) {
            if (*own > limit || (*own == limit && equal-- <= 0)) continue;
            numbers[size] = row;
            distances[size++] = *own;
        }
    }
    int state = every && histogram ? FINE : NO_MEMORY;
    *found = size;
    free(every);
    free(histogram);
    return state;
}

/* A row times a query. Numbers of 15 bits are multiplied as they are, or, where the machine is best
 * at numbers of 8 bits, in two halves: 128 times the upper, and the lower. Whole numbers either
 * way, so that every machine gives the same. */
INLINE int64_t dot(const int8_t *row, const int16_t *query, int64_t dimensions) {
    int64_t sum = 0;
    for (int64_t begin = 0; begin < dimensions; begin += CHUNK) {
        int64_t end = begin + CHUNK < dimensions ? begin + CHUNK : dimensions;
        int32_t part = 0;
        for (int64_t at = begin; at < end; at++) part += (int32_t)row[at] * query[at];
        sum += part;
    }
    return sum;
}

INLINE int64_t dot_of_halves(const int8_t *row, const int8_t *upper, const int8_t *lower,
                             int64_t dimensions) {
    int64_t sum = 0;
    for (int64_t begin = 0; begin < dimensions; begin += CHUNK) {
        int64_t end = begin + CHUNK < dimensions ? begin + CHUNK : dimensions;
        int32_t high = 0, low = 0;
        for (int64_t at = begin; at < end; at++) high += row[at] * upper[at];
        for (int64_t at = begin; at < end; at++) low += row[at] * lower[at];
        sum += (int64_t)high * HALF + low;
    }
    return sum;
}

/* Rows stand far from each other in a file much larger than any cache. */
INLINE void ask_ahead(const int8_t *rows, int64_t dimensions, const int64_t *wanted, int64_t at,
                      int64_t count) {
    if (at + AHEAD >= count) return;
    const int8_t *row = rows + wanted[at + AHEAD] * dimensions;
    for (int64_t byte = 0; byte < dimensions; byte += 64) PREFETCH(row + byte);
}

INLINE void dots(const int8_t *rows, int64_t dimensions, const int64_t *wanted, int64_t count,
                 const int16_t *query, int64_t *sums) {
    for (int64_t at = 0; at < count; at++) {
        ask_ahead(rows, dimensions, wanted, at, count);
        sums[at] = dot(rows + wanted[at] * dimensions, query, dimensions);
    }
}

static void dots_plain(const int8_t *rows, int64_t dimensions, const int64_t *wanted,
                       int64_t count, const int16_t *query, int64_t *sums) {
    dots(rows, dimensions, wanted, count, query, sums);
}

#if defined(__aarch64__)
FASTER static void dots_faster(const int8_t *rows, int64_t dimensions, const int64_t *wanted,
                               int64_t count, const int16_t *query, int64_t *sums) {
    int8_t *upper = malloc((size_t)(2 * dimensions + 1)), *lower = upper + dimensions;
    if (!upper) {
        dots_plain(rows, dimensions, wanted, count, query, sums);
        return;
    }
    for (int64_t at = 0; at < dimensions; at++) {
        /* Rounded to the nearest, so that both halves have 8 bits. */
        upper[at] = (int8_t)((query[at] + HALF / 2) >> 7);
        lower[at] = (int8_t)(query[at] - upper[at] * HALF);
    }
    for (int64_t at = 0; at < count; at++) {
        ask_ahead(rows, dimensions, wanted, at, count);
        sums[at] = dot_of_halves(rows + wanted[at] * dimensions, upper, lower, dimensions);
    }
    free(upper);
}
#else
FASTER static void dots_faster(const int8_t *rows, int64_t dimensions, const int64_t *wanted,
                               int64_t count, const int16_t *query, int64_t *sums) {
    dots(rows, dimensions, wanted, count, query, sums);
}
#endif

static void whole_dots(const int8_t *rows, int64_t dimensions, const int64_t *wanted,
                       int64_t count, const int16_t *query, int64_t *sums) {
    (has_faster() ? dots_faster : dots_plain)(rows, dimensions, wanted, count, query, sums);
}
