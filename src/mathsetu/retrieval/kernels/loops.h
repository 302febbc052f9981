/* The inner loops of search, in plain C: no Python, no global state, no instruction set assumed.
 *
 * A list is a range of postings: document numbers in strictly ascending order. The lists of a query
 * are read together, block by block: the sums of a block of documents fit into the cache of a core,
 * so that no array as long as the collection is needed.
 *
 * Lists come from files that may be malicious. Every stretch of a list is checked before it is used
 * (it ascends, and lies inside its block), and indices for writing are masked to the size of a
 * block as well. So a file that changes in between can corrupt sums and nothing else.
 *
 * Floats are added in the same order as in plain.py, without fused multiply-add
 * (-ffp-contract=off), so that both give bit-identical results.
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

/* Powers of two, so that a bit mask turns a document number into its place in a block. */
#define BLOCK 16384
#define BLOCK_OF_POSTS 65536
/* Documents that are tested together for any score above the limit. */
#define RUN 128
/* The sum of this many products of an 8-bit and a 15-bit number fits into 32 bits. */
#define CHUNK 1024
/* A query's number is this times its upper half, plus its lower half; see dot_of_halves. */
#define HALF 128
/* The most entries that are kept besides the wanted ones. */
#define MAX_MORE (1 << 20)
/* Looking up a document takes as long as reading this many postings. */
#define LOOKING_UP 8
/* With more blocks than this, one of SAMPLE blocks is read first, to estimate the score limit. */
#define MANY_BLOCKS 48
#define SAMPLE 16
/* How many rows ahead memory is prefetched. */
#define AHEAD 8

/* ---- The best documents ---------------------------------------------------------------- */

/* The best seen so far, unsorted, and room for more: each time the room is full, all but the best
 * `wanted` are dropped. A document is one integer, larger for a better one: the bits of its score,
 * which is above zero, and below them UINT32_MAX minus its number. Ties go to the lower number. */
typedef struct {
    uint64_t *kept;
    int64_t size, wanted, room;
    float limit; /* a score up to this does not count */
} Best;

static int begin_best(Best *best, int64_t wanted, float floor) {
    int64_t more = wanted < MAX_MORE ? wanted : MAX_MORE;
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

/* Partition two or more entries around one of them, the pivot: return its new place, with the
 * larger entries before it. The choice of the pivot is not predictable, so that no malicious file
 * can force quadratic time. */
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

/* Move the `wanted` largest entries to the front, unsorted (quickselect). */
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
        /* Recurse into the shorter side, loop over the longer one: the recursion stays shallow. */
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

/* Add a document whose score is high enough to count. */
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

/* Write the best, the best first; return how many there are. */
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

/* The part of a list that is not read yet. */
typedef struct {
    int64_t next, end;
    int64_t document; /* the next document, or INT64_MAX if there is none */
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

/* The first place of a stretch whose document is not below a limit, by galloping search: steps of
 * doubling length, then bisection. A stretch that does not ascend gives some place in it, or its
 * end. */
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

/* Advance past the documents of a list that lie in a block. Their stretch is [*begin, rest->next),
 * which may be empty. Return 0 if it does not ascend, or begins before the block. */
static int stretch(const int32_t *documents, Rest *rest, int64_t low, int64_t high,
                   int64_t *begin) {
    *begin = rest->next;
    if (rest->document >= high) return 1;
    int64_t end = first_from(documents, rest->next, rest->end, high, 64);
    if (rest->document < low || !is_rising(documents, *begin, end)) return 0;
    *rest = rest_of(documents, end, rest->end);
    return 1;
}

/* Advance the rest of a list to a document; return its place, or -1 if it is missing. */
static int64_t find(const int32_t *documents, Rest *rest, int64_t document) {
    rest->next = first_from(documents, rest->next, rest->end, document, 1);
    return rest->next < rest->end && documents[rest->next] == document ? rest->next : -1;
}

/* Whether every list was read to its end; if not, a list has documents out of range. */
static int all_read(const Rest *rests, int64_t lists) {
    for (int64_t list = 0; list < lists; list++) {
        if (rests[list].next != rests[list].end) return 0;
    }
    return 1;
}

/* Copy the values of some documents, one list after the other; 0 where they are missing. */
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

/* A query: lists in some order, and what each adds to the score of a document in it, depending on
 * the value of the posting.
 *
 * Words have values of one byte and no masses: the score of a document is the sum. For the features
 * of a formula it is the sum divided by the mean of both masses (Dice). */
typedef struct {
    const int64_t *ranges;
    const float *counts, *rarities; /* of the features of a formula */
    int64_t lists;
    float *tables; /* what each list adds for each value of a byte */
    float *rest;   /* the most that the lists from each one on can add to a sum */
    const float *masses, *bounds; /* bounds: smallest and largest mass of each block, or NULL */
    float mass;
} Asked;

/* What a feature adds: the smaller of its counts in both formulas, times its rarity. */
static inline float shared(float frequency, float count, float rarity) {
    return rarity * (count < frequency ? count : frequency);
}

static inline float added(const Asked *asked, int64_t list, const void *values, int small,
                          int64_t at) {
    if (small) return asked->tables[256 * list + ((const uint8_t *)values)[at]];
    return shared(((const float *)values)[at], asked->counts[list], asked->rarities[list]);
}

/* Compute what lists add; `weights` are those of words, or NULL. Return 0 if out of memory. */
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

/* The sum that a document of a block must exceed to count, for the lightest formula of the block.
 * It is rounded down, so that no document is lost. */
static float least_sum(const Asked *asked, int64_t block, float limit) {
    if (!asked->masses) return limit * (1 - 1e-5f);
    float lightest = asked->bounds ? asked->bounds[2 * block] : -INFINITY;
    float least = limit * (0.5f - 1e-5f) * (lightest + asked->mass);
    return isnan(least) ? -INFINITY : least; /* a damaged mass gives no bound */
}

/* How many lists must be read in a block: a document in none of these cannot count. */
static int64_t lists_to_read(const Asked *asked, int64_t block, float limit) {
    int64_t lists = asked->lists;
    limit *= 1 - 1e-5f;
    for (; lists; lists--) {
        float rest = asked->rest[lists - 1];
        if (asked->masses) {
            /* What features add cannot exceed a formula's mass. */
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

/* The first block to read: that of formulas as heavy as the query, if bounds tell which one it is.
 * The limit is then already high when the other blocks are read. */
static int64_t first_block(const Asked *asked, int64_t blocks) {
    int64_t block = 0;
    if (!asked->bounds) return 0;
    while (block < blocks && asked->bounds[2 * block + 1] < asked->mass) block++;
    return block < blocks ? block : 0;
}

/* The sums of a block of documents, and which of them may count. */
typedef struct {
    float *sums;      /* all zero between two blocks */
    int32_t *touched; /* documents with a sum, unsorted and perhaps repeated; then those that may
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

/* Add to the sums what a list adds to the documents of a stretch. */
static void add_list(const Asked *asked, int64_t list, const int32_t *documents,
                     const void *values, int small, int64_t at, int64_t end, float *sums) {
    const float *table = asked->tables + 256 * list;
    const uint8_t *bytes = values;
    for (; small && at < end; at++) sums[documents[at] & (BLOCK - 1)] += table[bytes[at]];
    for (; at < end; at++) {
        sums[documents[at] & (BLOCK - 1)] += added(asked, list, values, 0, at);
    }
}

/* Add up the stretches of the lists that are read, if they have few documents. Record which
 * documents have a sum, so that the others need not be visited. */
static int64_t add_few(const Asked *asked, const int32_t *documents, const void *values, int small,
                       const Rest *rests, int64_t read, Block *block) {
    int64_t size = 0;
    for (int64_t list = 0; list < read; list++) {
        for (int64_t at = block->begins[list]; at < rests[list].next; at++) {
            int32_t place = documents[at] & (BLOCK - 1);
            /* Written whether it is new or not: a branch would be slower. */
            block->touched[size] = place;
            size += block->sums[place] == 0;
            block->sums[place] += added(asked, list, values, small, at);
        }
    }
    return size;
}

/* Keep the documents that may count, in order: mark them in a bit set, then read the set. */
static int64_t keep_few(float least, int64_t size, Block *block) {
    int64_t kept = 0;
    for (int64_t at = 0; at < size; at++) {
        int32_t place = block->touched[at];
        float sum = block->sums[place];
        uint64_t may = (sum > 0) & (sum > least);
        block->marks[place / 64] |= may << place % 64;
    }
    /* Reset the sums of the others. */
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

/* The same for stretches of many documents: every document of the block is visited. */
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

/* Advance a list to a block; blocks before it may have been skipped. */
static void go_to(const int32_t *documents, Rest *rest, int64_t low) {
    if (rest->document >= low) return;
    *rest = rest_of(documents, first_from(documents, rest->next, rest->end, low, 64), rest->end);
}

/* The best documents by the sum of what lists add.
 *
 * Lists come in any order; rare ones first is fastest. Once enough documents are known, a document
 * in none of the first lists cannot be among the best any more, because the last lists add too
 * little. The last lists, which are the long ones, are then searched only for the documents that
 * may still count. The result is the same as that of reading everything, if no formula's mass is
 * less than the sum of what its features add.
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
            /* Go back to the blocks that were skipped at the start. */
            for (int64_t list = 0; list < asked->lists; list++) {
                rests[list] = rest_of(documents, asked->ranges[2 * list],
                                      asked->ranges[2 * list + 1]);
            }
        }
        for (int64_t list = 0; list < read; list++) {
            Rest *rest = &rests[list];
            /* A list that was read in every block has no unread document before this one. */
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
        float left = asked->rest[read]; /* at the last check of which documents may count */
        for (int64_t list = read; size && list < asked->lists; list++) {
            Rest *rest = &rests[list];
            go_to(documents, rest, low);
            int64_t end = rest->document < high
                              ? first_from(documents, rest->next, rest->end, high, 64)
                              : rest->next;
            if (end - rest->next < LOOKING_UP * size) {
                /* Faster than looking up; the sums of other documents are reset below. */
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
            /* The less can still be added, the fewer documents may count: check them again. */
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
            /* Blocks may be read out of order, so a score equal to the limit may win the tie. */
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

/* A limit that most likely more documents than wanted reach: in a sample, as many reach it as its
 * share of the best, plus three standard deviations. The old limit if the sample has fewer. */
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

/* The best documents of all blocks. With a high limit most postings need not be read, so a sample
 * is read first to estimate it if there are many blocks of formulas. (The best documents for words
 * are spread over all blocks, so that the first blocks give as good a limit.) */
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
        /* The sample was not representative: search again without its limit. */
        best->size = 0;
        best->limit = floor;
        state = best_of_blocks(documents, values, small, asked, count, 1, allowed, best);
    }
    return state;
}

/* The same scores for given formulas only; every one of them must have a mass. */
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

/* The best posts, given the formulas found for the formulas of a query. In each group (the formulas
 * found for one query formula) a post gets the score of its best; groups are added by weight. */
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

/* If the compiler supports it, loops are compiled a second time with faster instructions; which
 * version runs is decided at each call, by what the CPU supports. */
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
    /* Every such machine counts the bits of 16 bytes at once; the sum of 15 counts, 8 at most each,
     * fits into a byte. */
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

/* The distance of each row of a range, and a histogram of the distances. */
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
    /* For the usual number of words as a constant, the compiler unrolls the loop over them. */
    if (words == 6) {
        scan_signs(signs, 6, query, begin, end, distances, histogram);
    } else {
        scan_signs(signs, words, query, begin, end, distances, histogram);
    }
}

/* The rows nearest to a query by Hamming distance, at less than `below`, in ascending order; of
 * rows at the same distance, the first. */
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
    /* Take all rows nearer than the limit, and the first of those at the limit, if these count. */
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

/* The dot product of a row and a query. 15-bit numbers are multiplied as they are or, on machines
 * that are fastest with 8-bit numbers, in two halves: 128 times the upper half, plus the lower.
 * Both ways use integers, so that every machine gives the same result. */
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

/* Prefetch a later row: rows are far apart in a file much larger than any cache. */
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

static void integer_dots(const int8_t *rows, int64_t dimensions, const int64_t *wanted,
                       int64_t count, const int16_t *query, int64_t *sums) {
    (has_faster() ? dots_faster : dots_plain)(rows, dimensions, wanted, count, query, sums);
}
