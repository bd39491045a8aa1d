#include "base/text/spelling.h"

#include "base/text/printable.h"

#include <stdbool.h>
#include <string.h>

/* One letter for those that people take for each other. */
static char fold_letter(char c)
{
    if (c == '_' || c == ' ' || c == '.')
        return '-';
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

/* The optimal string alignment distance of two words of fewer than MW__SPELLING_BYTES letters. */
static size_t find_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][MW__SPELLING_BYTES];
    for (size_t k = 0; k <= b_length; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            const char x = fold_letter(a[i - 1]), y = fold_letter(b[k - 1]);
            now[k] = least_of(least_of(last[k], now[k - 1]) + 1, last[k - 1] + (x != y));
            if (i > 1 && k > 1 && x == fold_letter(b[k - 2]) && y == fold_letter(a[i - 2]))
                now[k] = least_of(now[k], before[k - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

static size_t farthest_allowed(size_t length)
{
    const size_t third = (length + 1) / 3;
    return third < 1 ? 1 : third > 3 ? 3 : third;
}

/* Whether one word is the beginning of the other. */
static bool is_beginning(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const size_t length = least_of(a_length, b_length);
    return length >= 3 && find_distance(a, length, b, length) == 0;
}

static void offer_part(mw__spelling *n, const char *name, size_t length)
{
    const size_t typed = strlen(n->typed), allowed = farthest_allowed(typed);
    if (length == 0 || typed == 0 || length >= MW__SPELLING_BYTES || typed >= MW__SPELLING_BYTES)
        return;
    size_t distance = find_distance(n->typed, typed, name, length);
    if (distance > allowed && is_beginning(n->typed, typed, name, length))
        distance = MW__SPELLING_BYTES; /* behind every mistake in typing */
    else if (distance > allowed || distance >= length)
        return;
    if (distance < n->distance)
        n->count = 0;
    if (distance > n->distance || n->count == MW__SPELLING_MAX)
        return;
    n->distance = distance;
    memcpy(n->names[n->count], name, length);
    n->names[n->count][length] = '\0';
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->names[i], n->names[n->count]) == 0)
            return;
    n->count++;
}

void mw__spelling_init(mw__spelling *n, const char *typed)
{
    *n = (mw__spelling){.typed = typed, .distance = MW__SPELLING_BYTES};
}

void mw__spelling_offer(mw__spelling *n, const char *name) { offer_part(n, name, strlen(name)); }

void mw__spelling_offer_list(mw__spelling *n, const char *names)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        offer_part(n, names, length);
        names += length;
        names += strspn(names, ", ");
    }
}

const char *mw__spelling_hint(const mw__spelling *n, const char *before, char *out, size_t capacity)
{
    const char *quote = before[0] == '\0' ? "\"" : "";
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n->count && used + 1 < capacity; i++) {
        const char *joint = i == 0 ? "; did you mean " : i + 1 < n->count ? ", " : " or ";
        used += mw__printable_printf(out + used, capacity - used, "%s%s%s%s%s%s", joint, quote, before, n->names[i],
                                     quote, i + 1 == n->count ? "?" : "");
    }
    return out;
}
