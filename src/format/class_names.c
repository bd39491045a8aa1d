/* Sorting names of classes. */
#include "format/class_names.h"

#include "base/number/number.h"

#include <stdlib.h>
#include <string.h>

static int compare_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int64_t value_of(const char *name)
{
    int64_t value = 0;
    mw__number_read_i64(name, strlen(name), &value);
    return value;
}

/* "7" and "07" are two classes of one value. */
static int compare_integers(const void *a, const void *b)
{
    const int64_t x = value_of(*(const char *const *)a), y = value_of(*(const char *const *)b);
    return x != y ? (x > y) - (x < y) : compare_bytes(a, b);
}

void mw__sort_class_names(const char **names, size_t count)
{
    int64_t value;
    bool integers = count > 0;
    for (size_t i = 0; integers && i < count; i++)
        integers = mw__number_read_i64(names[i], strlen(names[i]), &value);
    if (count > 0)
        qsort(names, count, sizeof *names, integers ? compare_integers : compare_bytes);
}
