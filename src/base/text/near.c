/* Levenshtein's distance, with wildcards. */
#include "base/text/near.h"

#include <stdbool.h>
#include <string.h>

enum { COMPARED = 96 };

static size_t length_of(const char *text)
{
    size_t length = 0;
    while (length < COMPARED && text[length] != '\0')
        length++;
    return length;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

size_t mw__near_distance(const char *wanted, const char *name)
{
    size_t row[COMPARED + 1];
    const size_t count = length_of(name), rows = length_of(wanted);
    for (size_t k = 0; k <= count; k++)
        row[k] = k;
    for (size_t i = 0; i < rows; i++) {
        const bool any = wanted[i] == '*';
        size_t diagonal = row[0];
        row[0] += !any;
        for (size_t k = 1; k <= count; k++) {
            const bool same = any || wanted[i] == '?' || lower(wanted[i]) == lower(name[k - 1]);
            const size_t put_in = row[k] + !any, left_out = row[k - 1] + !any, changed = diagonal + !same;
            diagonal = row[k];
            row[k] = least(changed, least(put_in, left_out));
        }
    }
    return row[count];
}

static bool is_there(const mw__near *near, const char *name)
{
    for (size_t i = 0; i < near->count; i++)
        if (strcmp(near->names[i], name) == 0)
            return true;
    return false;
}

void mw__near_add(mw__near *near, const char *name)
{
    if (name[0] == '\0' || is_there(near, name))
        return;
    const size_t distance = mw__near_distance(near->wanted, name);
    size_t at = near->count;
    while (at > 0 && near->distances[at - 1] > distance)
        at--;
    if (at == MW__NEAR_NAMES)
        return;
    near->count += near->count < MW__NEAR_NAMES;
    for (size_t i = near->count; --i > at;) {
        near->names[i] = near->names[i - 1];
        near->distances[i] = near->distances[i - 1];
    }
    near->names[at] = name;
    near->distances[at] = distance;
}
