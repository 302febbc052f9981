/* The functions of plain.py, compiled: the same arguments, the same results.
 *
 * Arrays are passed by Python's buffer protocol, so that numpy's headers are not needed. Only the
 * stable ABI is used, so that one binary serves Python 3.11 and later. Types, shapes and bounds are
 * checked here, whatever the caller has checked: no argument can make a function read or write
 * outside of an array. The GIL is released while loops run.
 */

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "loops.h"

/* The largest magnitude of a query's integers, 127 * 128; see dot_of_halves. */
#define LARGEST 16256
/* More words of bits than any vector has; distances then fit into 32 bits. */
#define MAX_WORDS 65536
#define MAX_ARRAYS 12

/* ---- Arguments ------------------------------------------------------------------------- */

/* The buffers of one call, released together. */
typedef struct {
    Py_buffer views[MAX_ARRAYS];
    int size;
} Arrays;

static PyObject *give_back(Arrays *arrays, PyObject *result) {
    while (arrays->size) PyBuffer_Release(&arrays->views[--arrays->size]);
    return result;
}

/* Whether a buffer's format is one of some letters, in native byte order. */
static int is_one_of(const char *format, const char *letters) {
    static const uint16_t one = 1;
    if (!format) format = "B";
    if (*format == '@' || *format == '=' || *format == (*(const char *)&one ? '<' : '>')) format++;
    return *format && !format[1] && strchr(letters, *format) != NULL;
}

/* Get the buffer of an array; letters and size give the type of its values. NULL on an error. */
static Py_buffer *array(Arrays *arrays, PyObject *given, const char *name, const char *letters,
                        Py_ssize_t size, int dimensions, int written) {
    Py_buffer *view = &arrays->views[arrays->size];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(given, view, flags)) return NULL;
    arrays->size++;
    if (view->itemsize != size || !is_one_of(view->format, letters) || view->ndim != dimensions) {
        PyErr_Format(PyExc_TypeError, "%s: an array of another kind or shape is needed", name);
        return NULL;
    }
    if ((uintptr_t)view->buf % (size_t)size) {
        PyErr_Format(PyExc_TypeError, "%s: its values are not aligned in memory", name);
        return NULL;
    }
    return view;
}

#define INTEGERS "bhilqn"
#define NATURALS "BHILQN"

static Py_buffer *numbers32(Arrays *arrays, PyObject *given, const char *name) {
    return array(arrays, given, name, INTEGERS, 4, 1, 0);
}

static Py_buffer *numbers64(Arrays *arrays, PyObject *given, const char *name) {
    return array(arrays, given, name, INTEGERS, 8, 1, 0);
}

static Py_buffer *bytes(Arrays *arrays, PyObject *given, const char *name) {
    return array(arrays, given, name, "B", 1, 1, 0);
}

static Py_buffer *floats(Arrays *arrays, PyObject *given, const char *name) {
    return array(arrays, given, name, "f", 4, 1, 0);
}

static int refuse(const char *name, const char *problem) {
    PyErr_Format(PyExc_ValueError, "%s: %s", name, problem);
    return 0;
}

static int have_length(const Py_buffer *view, const char *name, int64_t length) {
    return view->shape[0] == length || refuse(name, "has another length than what it belongs to");
}

/* Get bytes or floats, one for each posting: how often a term occurs there. */
static Py_buffer *values_of(Arrays *arrays, PyObject *given, const char *name,
                            const Py_buffer *documents) {
    Py_buffer *values = bytes(arrays, given, name);
    if (!values && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        values = floats(arrays, given, name);
    }
    return values && have_length(values, name, documents->shape[0]) ? values : NULL;
}

/* Get ranges, each with its begin and end, of an array of a given length. */
static Py_buffer *ranges_in(Arrays *arrays, PyObject *given, int64_t length) {
    Py_buffer *view = array(arrays, given, "ranges", INTEGERS, 8, 2, 0);
    if (!view) return NULL;
    if (view->shape[1] != 2) {
        refuse("ranges", "each needs a begin and an end");
        return NULL;
    }
    const int64_t *ranges = view->buf;
    for (Py_ssize_t at = 0; at < view->shape[0]; at++) {
        if (ranges[2 * at] < 0 || ranges[2 * at] > ranges[2 * at + 1] ||
            ranges[2 * at + 1] > length) {
            refuse("ranges", "one lies outside of its array");
            return NULL;
        }
    }
    return view;
}

/* Get numbers below a limit, if `rising` in ascending order; above 32 bits they match nothing. */
static Py_buffer *wanted_below(Arrays *arrays, PyObject *given, int64_t limit, int rising) {
    Py_buffer *view = numbers64(arrays, given, "wanted");
    if (!view) return NULL;
    const int64_t *wanted = view->buf;
    for (Py_ssize_t at = 0; at < view->shape[0]; at++) {
        if (wanted[at] < 0 || wanted[at] >= limit ||
            (rising && at && wanted[at] <= wanted[at - 1])) {
            refuse("wanted", rising ? "its numbers must rise and lie in their range"
                                    : "its numbers must lie in their range");
            return NULL;
        }
    }
    return view;
}

/* The output arrays for the best, and which documents may be among these (NULL: all). */
typedef struct {
    int64_t *numbers;
    float *scores;
    const uint8_t *may;
    Best best;
} Into;

static int best_into(Arrays *arrays, PyObject *numbers, PyObject *scores, PyObject *allowed,
                     int64_t count, float floor, Into *into) {
    Py_buffer *first = array(arrays, numbers, "numbers", INTEGERS, 8, 1, 1);
    Py_buffer *second = first ? array(arrays, scores, "scores", "f", 4, 1, 1) : NULL;
    if (!second || !have_length(second, "scores", first->shape[0])) return 0;
    if (count < 0 || count > INT32_MAX) return refuse("count", "must be from 0 to 2147483647");
    if (first->shape[0] > INT32_MAX) return refuse("numbers", "are too many");
    if (!(floor >= 0)) return refuse("floor", "must be a number from 0 on");
    into->numbers = first->buf;
    into->scores = second->buf;
    into->may = NULL;
    if (allowed != Py_None) {
        Py_buffer *view = array(arrays, allowed, "allowed", "?", 1, 1, 0);
        if (!view || !have_length(view, "allowed", count)) return 0;
        into->may = view->buf;
    }
    if (begin_best(&into->best, first->shape[0], floor)) return 1;
    PyErr_NoMemory();
    return 0;
}

static PyObject *how_many(int state, int64_t found) {
    if (state == NO_MEMORY) return PyErr_NoMemory();
    if (state == NOT_RISING) {
        PyErr_SetString(PyExc_ValueError,
                        "documents: those of a term must rise and lie in their range");
        return NULL;
    }
    return PyLong_FromLongLong(found);
}

/* ---- Functions ------------------------------------------------------------------------- */

/* Find the best documents for a query; `weights` are those of words, NULL for formulas. */
static PyObject *best_asked(const Py_buffer *documents, const Py_buffer *values, Asked *asked,
                            const float *weights, int64_t count, Into *into) {
    int state = NO_MEMORY;
    int64_t found;
    Py_BEGIN_ALLOW_THREADS
    if (prepare(asked, weights)) {
        state = best_of_lists(documents->buf, values->buf, values->itemsize == 1, asked, count,
                              into->may, &into->best);
    }
    discard(asked);
    found = end_best(&into->best, into->numbers, into->scores);
    Py_END_ALLOW_THREADS
    return how_many(state, found);
}

static PyObject *py_best_by_impact(PyObject *module, PyObject *given) {
    PyObject *o_documents, *o_impacts, *o_ranges, *o_weights, *o_allowed, *o_numbers, *o_scores;
    long long count;
    float floor;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOOLOfOO", &o_documents, &o_impacts, &o_ranges, &o_weights,
                          &count, &o_allowed, &floor, &o_numbers, &o_scores)) {
        return NULL;
    }
    Arrays arrays = {.size = 0};
    Py_buffer *documents, *impacts, *ranges, *weights;
    Into into;
    if (!(documents = numbers32(&arrays, o_documents, "documents")) ||
        !(impacts = bytes(&arrays, o_impacts, "impacts")) ||
        !have_length(impacts, "impacts", documents->shape[0]) ||
        !(ranges = ranges_in(&arrays, o_ranges, documents->shape[0])) ||
        !(weights = floats(&arrays, o_weights, "weights")) ||
        !have_length(weights, "weights", ranges->shape[0]) ||
        !best_into(&arrays, o_numbers, o_scores, o_allowed, count, floor, &into)) {
        return give_back(&arrays, NULL);
    }
    Asked asked = {.ranges = ranges->buf, .lists = ranges->shape[0]};
    return give_back(&arrays, best_asked(documents, impacts, &asked, weights->buf, count, &into));
}

static PyObject *py_gather(PyObject *module, PyObject *given) {
    PyObject *o_documents, *o_values, *o_ranges, *o_wanted, *o_found;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOOO", &o_documents, &o_values, &o_ranges, &o_wanted,
                          &o_found)) {
        return NULL;
    }
    Arrays arrays = {.size = 0};
    Py_buffer *documents, *values, *ranges, *wanted, *found;
    if (!(documents = numbers32(&arrays, o_documents, "documents")) ||
        !(values = values_of(&arrays, o_values, "values", documents)) ||
        !(ranges = ranges_in(&arrays, o_ranges, documents->shape[0])) ||
        !(wanted = wanted_below(&arrays, o_wanted, INT64_MAX, 1)) ||
        !(found = array(&arrays, o_found, "found", values->itemsize == 1 ? "B" : "f",
                        values->itemsize, 2, 1)) ||
        !have_length(found, "found", ranges->shape[0])) {
        return give_back(&arrays, NULL);
    }
    if (found->shape[1] != wanted->shape[0]) {
        refuse("found", "has another length than what it belongs to");
        return give_back(&arrays, NULL);
    }
    Py_BEGIN_ALLOW_THREADS
    gather(documents->buf, values->buf, values->itemsize, ranges->buf, ranges->shape[0],
           wanted->buf, wanted->shape[0], found->buf);
    Py_END_ALLOW_THREADS
    return give_back(&arrays, how_many(FINE, wanted->shape[0]));
}

/* The features of a query formula, and the formulas of the collection that have them. */
typedef struct {
    PyObject *documents, *frequencies, *ranges, *counts, *rarities, *masses;
} Given;

static int asked_of(Arrays *arrays, const Given *given, float mass, Asked *asked,
                    Py_buffer **documents, Py_buffer **frequencies, int64_t *count) {
    Py_buffer *ranges, *counts, *rarities, *masses;
    if (!(*documents = numbers32(arrays, given->documents, "documents")) ||
        !(*frequencies = values_of(arrays, given->frequencies, "frequencies", *documents)) ||
        !(ranges = ranges_in(arrays, given->ranges, (*documents)->shape[0])) ||
        !(counts = floats(arrays, given->counts, "counts")) ||
        !have_length(counts, "counts", ranges->shape[0]) ||
        !(rarities = floats(arrays, given->rarities, "rarities")) ||
        !have_length(rarities, "rarities", ranges->shape[0]) ||
        !(masses = floats(arrays, given->masses, "masses"))) {
        return 0;
    }
    *count = masses->shape[0];
    *asked = (Asked){
        .ranges = ranges->buf,
        .counts = counts->buf,
        .rarities = rarities->buf,
        .lists = ranges->shape[0],
        .masses = masses->buf,
        .mass = mass,
    };
    return 1;
}

static PyObject *py_best_by_overlap(PyObject *module, PyObject *given) {
    PyObject *o_bounds, *o_allowed, *o_numbers, *o_scores;
    Given of;
    float mass, floor;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOOOOfOOfOO", &of.documents, &of.frequencies, &of.ranges,
                          &of.counts, &of.rarities, &of.masses, &mass, &o_bounds, &o_allowed,
                          &floor, &o_numbers, &o_scores)) {
        return NULL;
    }
    Arrays arrays = {.size = 0};
    Py_buffer *documents, *frequencies, *bounds;
    Asked asked;
    Into into;
    int64_t count;
    if (!asked_of(&arrays, &of, mass, &asked, &documents, &frequencies, &count)) {
        return give_back(&arrays, NULL);
    }
    if (o_bounds != Py_None) {
        if (!(bounds = array(&arrays, o_bounds, "bounds", "f", 4, 2, 0)) ||
            !have_length(bounds, "bounds", (count + BLOCK - 1) / BLOCK)) {
            return give_back(&arrays, NULL);
        }
        if (bounds->shape[1] != 2) {
            refuse("bounds", "needs two numbers for each block");
            return give_back(&arrays, NULL);
        }
        asked.bounds = bounds->buf;
    }
    if (!best_into(&arrays, o_numbers, o_scores, o_allowed, count, floor, &into)) {
        return give_back(&arrays, NULL);
    }
    return give_back(&arrays, best_asked(documents, frequencies, &asked, NULL, count, &into));
}

static PyObject *py_overlaps_of(PyObject *module, PyObject *given) {
    PyObject *o_wanted, *o_scores;
    Given of;
    float mass;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOOOOfOO", &of.documents, &of.frequencies, &of.ranges,
                          &of.counts, &of.rarities, &of.masses, &mass, &o_wanted, &o_scores)) {
        return NULL;
    }
    Arrays arrays = {.size = 0};
    Py_buffer *documents, *frequencies, *wanted, *scores;
    Asked asked;
    int64_t count;
    if (!asked_of(&arrays, &of, mass, &asked, &documents, &frequencies, &count) ||
        !(wanted = wanted_below(&arrays, o_wanted, count, 1)) ||
        !(scores = array(&arrays, o_scores, "scores", "f", 4, 1, 1)) ||
        !have_length(scores, "scores", wanted->shape[0])) {
        return give_back(&arrays, NULL);
    }
    int state = NO_MEMORY;
    Py_BEGIN_ALLOW_THREADS
    if (prepare(&asked, NULL)) {
        overlaps_of(documents->buf, frequencies->buf, frequencies->itemsize == 1, &asked,
                    wanted->buf, wanted->shape[0], scores->buf);
        state = FINE;
    }
    discard(&asked);
    Py_END_ALLOW_THREADS
    return give_back(&arrays, how_many(state, wanted->shape[0]));
}

static PyObject *py_best_posts(PyObject *module, PyObject *given) {
    PyObject *o_posts, *o_ranges, *o_found, *o_groups, *o_weights, *o_allowed, *o_numbers;
    PyObject *o_scores;
    long long count;
    float floor;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOOOLOfOO", &o_posts, &o_ranges, &o_found, &o_groups,
                          &o_weights, &count, &o_allowed, &floor, &o_numbers, &o_scores)) {
        return NULL;
    }
    Arrays arrays = {.size = 0};
    Py_buffer *posts, *ranges, *found, *groups, *weights;
    Into into;
    if (!(posts = numbers32(&arrays, o_posts, "posts")) ||
        !(ranges = ranges_in(&arrays, o_ranges, posts->shape[0])) ||
        !(found = floats(&arrays, o_found, "likenesses")) ||
        !have_length(found, "likenesses", ranges->shape[0]) ||
        !(groups = numbers64(&arrays, o_groups, "groups")) ||
        !(weights = floats(&arrays, o_weights, "weights")) ||
        !have_length(groups, "groups", weights->shape[0] + 1)) {
        return give_back(&arrays, NULL);
    }
    const int64_t *ends = groups->buf;
    int fits = ends[0] == 0 && ends[weights->shape[0]] == ranges->shape[0];
    for (Py_ssize_t at = 0; at < weights->shape[0]; at++) fits &= ends[at] <= ends[at + 1];
    if (!fits) {
        refuse("groups", "must rise from 0 to the number of formulas");
        return give_back(&arrays, NULL);
    }
    if (!best_into(&arrays, o_numbers, o_scores, o_allowed, count, floor, &into)) {
        return give_back(&arrays, NULL);
    }
    int state;
    int64_t size;
    Py_BEGIN_ALLOW_THREADS
    state = best_posts(posts->buf, ranges->buf, found->buf, ranges->shape[0], ends, weights->buf,
                       weights->shape[0], count, into.may, &into.best);
    size = end_best(&into.best, into.numbers, into.scores);
    Py_END_ALLOW_THREADS
    return give_back(&arrays, how_many(state, size));
}

static PyObject *py_nearest_signs(PyObject *module, PyObject *given) {
    PyObject *o_signs, *o_query, *o_ranges, *o_numbers, *o_distances;
    long long below;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOLOO", &o_signs, &o_query, &o_ranges, &below, &o_numbers,
                          &o_distances)) {
        return NULL;
    }
    Arrays arrays = {.size = 0};
    Py_buffer *signs, *query, *ranges, *numbers, *distances;
    if (!(signs = array(&arrays, o_signs, "signs", NATURALS, 8, 2, 0)) ||
        !(query = array(&arrays, o_query, "query", NATURALS, 8, 1, 0)) ||
        !have_length(query, "query", signs->shape[1]) ||
        !(ranges = ranges_in(&arrays, o_ranges, signs->shape[0])) ||
        !(numbers = array(&arrays, o_numbers, "numbers", INTEGERS, 8, 1, 1)) ||
        !(distances = array(&arrays, o_distances, "distances", INTEGERS, 4, 1, 1)) ||
        !have_length(distances, "distances", numbers->shape[0])) {
        return give_back(&arrays, NULL);
    }
    if (signs->shape[1] > MAX_WORDS) {
        refuse("signs", "have too many bits");
        return give_back(&arrays, NULL);
    }
    if (below < 0) {
        refuse("below", "must be at least 0");
        return give_back(&arrays, NULL);
    }
    int state;
    int64_t found = 0;
    Py_BEGIN_ALLOW_THREADS
    state = nearest_signs(signs->buf, signs->shape[1], query->buf, ranges->buf, ranges->shape[0],
                          below, numbers->buf, distances->buf, numbers->shape[0], &found);
    Py_END_ALLOW_THREADS
    return give_back(&arrays, how_many(state, found));
}

static PyObject *py_integer_dots(PyObject *module, PyObject *given) {
    PyObject *o_rows, *o_wanted, *o_query, *o_sums;
    (void)module;
    if (!PyArg_ParseTuple(given, "OOOO", &o_rows, &o_wanted, &o_query, &o_sums)) return NULL;
    Arrays arrays = {.size = 0};
    Py_buffer *rows, *wanted, *query, *sums;
    if (!(rows = array(&arrays, o_rows, "rows", "b", 1, 2, 0)) ||
        !(wanted = wanted_below(&arrays, o_wanted, rows->shape[0], 0)) ||
        !(query = array(&arrays, o_query, "query", "h", 2, 1, 0)) ||
        !have_length(query, "query", rows->shape[1]) ||
        !(sums = array(&arrays, o_sums, "sums", INTEGERS, 8, 1, 1)) ||
        !have_length(sums, "sums", wanted->shape[0])) {
        return give_back(&arrays, NULL);
    }
    for (Py_ssize_t at = 0; at < query->shape[0]; at++) {
        int16_t value = ((const int16_t *)query->buf)[at];
        if (value < -LARGEST || value > LARGEST) {
            refuse("query", "its numbers must lie from -16256 to 16256");
            return give_back(&arrays, NULL);
        }
    }
    Py_BEGIN_ALLOW_THREADS
    integer_dots(rows->buf, rows->shape[1], wanted->buf, wanted->shape[0], query->buf, sums->buf);
    Py_END_ALLOW_THREADS
    return give_back(&arrays, how_many(FINE, wanted->shape[0]));
}

/* ---- The module ------------------------------------------------------------------------ */

static PyObject *py_has_faster(PyObject *module, PyObject *given) {
    (void)module;
    (void)given;
    return PyBool_FromLong(has_faster());
}

static PyMethodDef METHODS[] = {
    {"best_by_impact", py_best_by_impact, METH_VARARGS, "See plain.py."},
    {"gather", py_gather, METH_VARARGS, "See plain.py."},
    {"best_by_overlap", py_best_by_overlap, METH_VARARGS, "See plain.py."},
    {"overlaps_of", py_overlaps_of, METH_VARARGS, "See plain.py."},
    {"best_posts", py_best_posts, METH_VARARGS, "See plain.py."},
    {"nearest_signs", py_nearest_signs, METH_VARARGS, "See plain.py."},
    {"integer_dots", py_integer_dots, METH_VARARGS, "See plain.py."},
    {"has_faster_instructions", py_has_faster, METH_NOARGS,
     "Whether this machine has the instructions that loops over vectors have a second form for."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_compiled",
    .m_doc = "The inner loops of search, compiled.",
    .m_size = 0,
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModuleDef_Init(&MODULE); }
