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
/* How many rows ahead memory is asked for. */
#define AHEAD 8

/* ---- The best documents ---------------------------------------------------------------- */

/* The best seen so far: a heap whose first is the worst. Ties go to the lower number. */
typedef struct {
    int64_t *numbers;
    float *scores;
    int64_t size, capacity;
    float floor; /* a score up to this does not count */
} Best;

static int is_worse(const Best *best, int64_t one, int64_t other) {
    if (best->scores[one] != best->scores[other]) return best->scores[one] < best->scores[other];
    return best->numbers[one] > best->numbers[other];
}

static void swap(Best *best, int64_t one, int64_t other) {
    int64_t number = best->numbers[one];
    float score = best->scores[one];
    best->numbers[one] = best->numbers[other];
    best->scores[one] = best->scores[other];
    best->numbers[other] = number;
    best->scores[other] = score;
}

static void sink(Best *best, int64_t place) {
    for (;;) {
        int64_t worst = place, child = 2 * place + 1;
        if (child < best->size && is_worse(best, child, worst)) worst = child;
        if (child + 1 < best->size && is_worse(best, child + 1, worst)) worst = child + 1;
        if (worst == place) return;
        swap(best, place, worst);
        place = worst;
    }
}

/* A document counts when its score is above this. */
static float limit_of(const Best *best) {
    if (best->size < best->capacity) return best->floor;
    return best->capacity ? best->scores[0] : INFINITY;
}

/* Take a document whose score is above the limit; documents come in rising order. */
static void take(Best *best, int64_t number, float score) {
    if (best->size < best->capacity) {
        int64_t place = best->size++;
        best->numbers[place] = number;
        best->scores[place] = score;
        while (place && is_worse(best, place, (place - 1) / 2)) {
            swap(best, place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    } else {
        best->numbers[0] = number;
        best->scores[0] = score;
        sink(best, 0);
    }
}

static void take_block(Best *best, const float *scores, int64_t first, int64_t count,
                       const uint8_t *allowed) {
    for (int64_t begin = 0; begin < count; begin += RUN) {
        int64_t end = begin + RUN < count ? begin + RUN : count;
        float limit = limit_of(best);
        int any = 0;
        for (int64_t at = begin; at < end; at++) any |= scores[at] > limit;
        if (!any) continue;
        for (int64_t at = begin; at < end; at++) {
            if (scores[at] > limit_of(best) && (!allowed || allowed[first + at])) {
                take(best, first + at, scores[at]);
            }
        }
    }
}

/* Turn the heap into a list, the best first. */
static int64_t sort_best(Best *best) {
    int64_t found = best->size;
    while (best->size > 1) {
        best->size--;
        swap(best, 0, best->size);
        sink(best, 0);
    }
    return found;
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

/* ---- Words ----------------------------------------------------------------------------- */

static int best_by_impact(const int32_t *documents, const uint8_t *impacts, const int64_t *ranges,
                          const float *weights, int64_t terms, int64_t count,
                          const uint8_t *allowed, Best *best) {
    Rest *rests = all_lists(documents, ranges, terms);
    float *sums = malloc(BLOCK * sizeof *sums);
    int state = rests && sums ? FINE : NO_MEMORY;
    for (int64_t low = 0; state == FINE && low < count; low += BLOCK) {
        int64_t high = low + BLOCK < count ? low + BLOCK : count;
        int touched = 0;
        for (int64_t term = 0; term < terms; term++) {
            int64_t at;
            float weight = weights[term];
            if (!stretch(documents, &rests[term], low, high, &at)) {
                state = NOT_RISING;
                break;
            }
            int64_t end = rests[term].next;
            if (at < end && !touched++) memset(sums, 0, BLOCK * sizeof *sums);
            for (; at < end; at++) {
                sums[documents[at] & (BLOCK - 1)] += weight * (float)impacts[at];
            }
        }
        if (state == FINE && touched) take_block(best, sums, low, high - low, allowed);
    }
    if (state == FINE && !all_read(rests, terms)) state = NOT_RISING;
    free(rests);
    free(sums);
    return state;
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

/* ---- Formulas -------------------------------------------------------------------------- */

/* What a query formula is made of: its features, how often it has each, how rare each is. */
typedef struct {
    const int64_t *ranges;
    const float *counts, *rarities;
    int64_t features;
    float mass;
} Asked;

/* What a feature adds: what both formulas have of it. */
static inline float shared(float frequency, float count, float rarity) {
    return rarity * (count < frequency ? count : frequency);
}

static inline float shared_at(const void *frequencies, int small, int64_t at, float count,
                              float rarity) {
    float frequency = small ? (float)((const uint8_t *)frequencies)[at]
                            : ((const float *)frequencies)[at];
    return shared(frequency, count, rarity);
}

/* What each feature adds for each frequency that a byte holds: quicker than comparing. */
static float *tables_of(const Asked *asked) {
    float *tables = malloc((size_t)(asked->features ? asked->features : 1) * 256 * sizeof *tables);
    for (int64_t at = 0; tables && at < asked->features * 256; at++) {
        int64_t feature = at / 256;
        tables[at] = shared((float)(at % 256), asked->counts[feature], asked->rarities[feature]);
    }
    return tables;
}

static inline float likeness(float sum, float mass, float other) {
    float both = mass + other;
    return 2.0f * sum / (both < 1e-9f ? 1e-9f : both);
}

/* What the features from each one on can add to any formula's sum at most; slack for rounding. */
static double *most_of_rest(const Asked *asked) {
    double *most = malloc((size_t)(asked->features + 1) * sizeof *most);
    if (!most) return NULL;
    most[asked->features] = 0;
    for (int64_t feature = asked->features; feature--;) {
        double adds = (double)asked->rarities[feature] * asked->counts[feature];
        most[feature] = most[feature + 1] + (adds > 0 ? adds * (1 + 1e-5) : 0);
    }
    return most;
}

/* The formulas of a block that may still count, given what the features that were not read can add
 * to each: their places, in order. */
static int64_t may_count(const float *sums, const float *masses, int64_t count, float mass,
                         double rest, float limit, int32_t *kept) {
    int64_t size = 0;
    for (int64_t begin = 0; begin < count; begin += RUN) {
        int64_t end = begin + RUN < count ? begin + RUN : count;
        int any = 0;
        for (int64_t at = begin; at < end; at++) any |= sums[at] > 0;
        for (int64_t at = begin; any && at < end; at++) {
            double both = (double)masses[at] + mass;
            if (sums[at] > 0 && 2 * (sums[at] + rest) * (1 + 1e-5) > limit * both) {
                kept[size++] = (int32_t)at;
            }
        }
    }
    return size;
}

/* Features come in some order, the rare ones first, if the caller is wise. Once enough formulas are
 * known, one that has none of the first features cannot be among the best any more: what the last
 * features add is too little. Their lists, which are the long ones, are then looked up for those
 * formulas alone that may still count. The result is that of reading everything, as long as no
 * formula's mass is less than what its features add up to. */
static int best_by_overlap(const int32_t *documents, const void *frequencies, int small,
                           const Asked *asked, const float *masses, int64_t count,
                           const uint8_t *allowed, Best *best) {
    Rest *rests = all_lists(documents, asked->ranges, asked->features);
    float *sums = malloc(BLOCK * sizeof *sums), *tables = tables_of(asked);
    int32_t *kept = malloc(BLOCK * sizeof *kept);
    double *rest = most_of_rest(asked);
    const uint8_t *bytes = frequencies;
    int state = rests && sums && tables && kept && rest ? FINE : NO_MEMORY;
    int64_t read = asked->features; /* so many lists are read, the others are looked up */
    for (int64_t low = 0; state == FINE && low < count; low += BLOCK) {
        int64_t high = low + BLOCK < count ? low + BLOCK : count;
        float limit = limit_of(best);
        while (read && 2 * rest[read - 1] <= limit * (rest[read - 1] + asked->mass)) read--;
        int touched = 0;
        for (int64_t feature = 0; feature < read; feature++) {
            int64_t at;
            if (!stretch(documents, &rests[feature], low, high, &at)) {
                state = NOT_RISING;
                break;
            }
            int64_t end = rests[feature].next;
            float most = asked->counts[feature], rarity = asked->rarities[feature];
            const float *table = tables + 256 * feature;
            if (at < end && !touched++) memset(sums, 0, BLOCK * sizeof *sums);
            for (; small && at < end; at++) sums[documents[at] & (BLOCK - 1)] += table[bytes[at]];
            for (; at < end; at++) {
                float adds = shared_at(frequencies, 0, at, most, rarity);
                sums[documents[at] & (BLOCK - 1)] += adds;
            }
        }
        if (state != FINE || !touched) continue;
        int64_t size = may_count(sums, masses + low, high - low, asked->mass, rest[read], limit,
                                 kept);
        for (int64_t feature = read; size && feature < asked->features; feature++) {
            for (int64_t at = 0; at < size && rests[feature].next < rests[feature].end; at++) {
                int64_t place = find(documents, &rests[feature], low + kept[at]);
                if (place < 0) continue;
                sums[kept[at]] += shared_at(frequencies, small, place, asked->counts[feature],
                                            asked->rarities[feature]);
            }
        }
        for (int64_t at = 0; at < size; at++) {
            int64_t number = low + kept[at];
            float score = likeness(sums[kept[at]], masses[number], asked->mass);
            if (score > limit_of(best) && (!allowed || allowed[number])) take(best, number, score);
        }
    }
    if (state == FINE && !all_read(rests, read)) state = NOT_RISING;
    free(rests);
    free(sums);
    free(tables);
    free(kept);
    free(rest);
    return state;
}

/* The same scores for some formulas alone; every one of them must have a mass. */
static void overlaps_of(const int32_t *documents, const void *frequencies, int small,
                        const Asked *asked, const float *masses, const int64_t *wanted,
                        int64_t count, float *scores) {
    memset(scores, 0, (size_t)count * sizeof *scores);
    for (int64_t feature = 0; feature < asked->features; feature++) {
        Rest rest = rest_of(documents, asked->ranges[2 * feature], asked->ranges[2 * feature + 1]);
        float most = asked->counts[feature], rarity = asked->rarities[feature];
        for (int64_t at = 0; at < count && rest.next < rest.end; at++) {
            int64_t place = find(documents, &rest, wanted[at]);
            if (place >= 0) scores[at] += shared_at(frequencies, small, place, most, rarity);
        }
    }
    for (int64_t at = 0; at < count; at++) {
        scores[at] = likeness(scores[at], masses[wanted[at]], asked->mass);
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

/* A row that was kept: its number, and in how many bits it differs from the query. */
typedef struct {
    int64_t number;
    int32_t distance;
} Near;

typedef struct {
    Near *kept;
    int64_t *histogram; /* of the distances of what is kept */
    int64_t size, wanted, room;
    int32_t limit; /* a row counts when its distance is below this */
} Nearest;

/* Keep the nearest rows of those kept, as many as are wanted, in their order; of those that are
 * equally far, the first. */
static void keep_nearest(Nearest *nearest) {
    if (nearest->size <= nearest->wanted) return;
    int64_t below = 0, kept = 0;
    int32_t limit = 0;
    while (below + nearest->histogram[limit] < nearest->wanted) below += nearest->histogram[limit++];
    int64_t equal = nearest->wanted - below;
    for (int64_t at = 0; at < nearest->size; at++) {
        Near row = nearest->kept[at];
        if (row.distance > limit || (row.distance == limit && equal-- <= 0)) {
            nearest->histogram[row.distance]--;
        } else {
            nearest->kept[kept++] = row;
        }
    }
    nearest->size = kept;
    nearest->limit = limit;
}

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

INLINE void scan_signs(const uint64_t *signs, int64_t words, const uint64_t *query, int64_t begin,
                       int64_t end, Nearest *nearest) {
    for (int64_t row = begin; row < end; row++) {
        int32_t bits = distance(signs + row * words, query, words);
        if (bits >= nearest->limit) continue;
        if (nearest->size == nearest->room) {
            keep_nearest(nearest);
            if (bits >= nearest->limit) continue;
        }
        nearest->kept[nearest->size++] = (Near){row, bits};
        nearest->histogram[bits]++;
    }
}

static void scan_signs_plain(const uint64_t *signs, int64_t words, const uint64_t *query,
                             int64_t begin, int64_t end, Nearest *nearest) {
    scan_signs(signs, words, query, begin, end, nearest);
}

FASTER static void scan_signs_faster(const uint64_t *signs, int64_t words, const uint64_t *query,
                                     int64_t begin, int64_t end, Nearest *nearest) {
    /* The usual number of words known, the loop over them disappears. */
    if (words == 6) {
        scan_signs(signs, 6, query, begin, end, nearest);
    } else {
        scan_signs(signs, words, query, begin, end, nearest);
    }
}

/* The rows whose bits differ least from a query's, in fewer than so many, in the order of their
 * numbers. */
static int nearest_signs(const uint64_t *signs, int64_t words, const uint64_t *query,
                         const int64_t *ranges, int64_t range_count, int64_t below,
                         int64_t *numbers, int32_t *distances, int64_t wanted, int64_t *found) {
    Nearest nearest = {.wanted = wanted, .room = wanted + (wanted < 4096 ? 4096 : wanted)};
    nearest.limit = (int32_t)(below <= 64 * words ? below : 64 * words + 1);
    if (!wanted) nearest.limit = 0;
    nearest.kept = malloc((size_t)nearest.room * sizeof *nearest.kept);
    nearest.histogram = calloc((size_t)(64 * words + 1), sizeof *nearest.histogram);
    int state = nearest.kept && nearest.histogram ? FINE : NO_MEMORY;
    int faster = has_faster();
    for (int64_t at = 0; state == FINE && at < range_count; at++) {
        (faster ? scan_signs_faster : scan_signs_plain)(signs, words, query, ranges[2 * at],
                                                        ranges[2 * at + 1], &nearest);
    }
    if (state == FINE) {
        keep_nearest(&nearest);
        for (int64_t at = 0; at < nearest.size; at++) {
            numbers[at] = nearest.kept[at].number;
            distances[at] = nearest.kept[at].distance;
        }
        *found = nearest.size;
    }
    free(nearest.kept);
    free(nearest.histogram);
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
