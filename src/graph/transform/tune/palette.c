/* One-dimensional k-means over sorted values: a cluster is a range of them, so a round takes as many searches as there
 * are entries. Lloyd's algorithm. */
#include "graph/transform/tune/palette.h"
#include <math.h>
#include <string.h>

static void sift(float *values, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && values[child] < values[child + 1])
            child++;
        if (values[root] >= values[child])
            return;
        const float swap = values[root];
        values[root] = values[child];
        values[child] = swap;
    }
}

/* Heap sort: it takes no memory and no longer for any order. */
static void sort(float *values, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(values, i, count);
    for (size_t end = count; end-- > 1;) {
        const float swap = values[0];
        values[0] = values[end];
        values[end] = swap;
        sift(values, 0, end);
    }
}

/* How many of the sorted values are at most `limit`. */
static size_t count_to(const float *sorted, size_t count, double limit)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if ((double)sorted[middle] <= limit)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* One round; false if no entry moved. sums[i] is that of the first i values. */
static bool move(const float *sorted, const double *sums, size_t count, float *table, size_t entries)
{
    bool moved = false;
    size_t from = 0;
    for (size_t k = 0; k < entries; k++) {
        const double limit = k + 1 < entries ? ((double)table[k] + (double)table[k + 1]) / 2 : INFINITY;
        const size_t to = count_to(sorted, count, limit);
        if (to > from) {
            const float mean = (float)((sums[to] - sums[from]) / (double)(to - from));
            moved = moved || mean != table[k];
            table[k] = mean;
        }
        from = to > from ? to : from;
    }
    return moved;
}

static void assign(const float *values, size_t count, const float *table, size_t entries, unsigned char *index)
{
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = entries - 1;
        while (low < high) { /* the first whose middle to the next is not below the value */
            const size_t middle = (low + high) / 2;
            if ((double)values[i] <= ((double)table[middle] + (double)table[middle + 1]) / 2)
                high = middle;
            else
                low = middle + 1;
        }
        index[i] = (unsigned char)low;
    }
}

mw_status mw__palette_make(const mw_allocator *allocator, const float *values, size_t count, float *table,
                           size_t entries, unsigned char *index, mw_error *err)
{
    enum { ROUNDS = 64 };
    float *sorted = mw__alloc(allocator, count, sizeof *sorted, err);
    double *sums = mw__alloc(allocator, count + 1, sizeof *sums, err);
    if (sorted != NULL && sums != NULL) {
        memcpy(sorted, values, count * sizeof *sorted);
        sort(sorted, count);
        for (size_t i = 0; i < count; i++)
            sums[i + 1] = sums[i] + (double)sorted[i];
        for (size_t k = 0; k < entries; k++)
            table[k] = sorted[(2 * k + 1) * count / (2 * entries)];
        for (int round = 0; round < ROUNDS && move(sorted, sums, count, table, entries); round++)
            continue;
        assign(values, count, table, entries, index);
    }
    const bool good = sorted != NULL && sums != NULL;
    mw__free(allocator, sorted);
    mw__free(allocator, sums);
    return good ? MW_OK : MW_ERROR_MEMORY;
}
