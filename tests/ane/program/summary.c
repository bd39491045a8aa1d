#include "summary.h"

#include "rules/chips.h"

#include <string.h>

static int find_switch(const char *word, size_t length)
{
    for (int i = 0; i < MW__SWITCH_COUNT; i++)
        if (strlen(mw__switch_rows()[i].name) == length && strncmp(mw__switch_rows()[i].name, word, length) == 0)
            return i;
    return -1;
}

void ane_summary_add(ane_summary *s, const char *item, const char *detail)
{
    const char *at = strstr(detail, " -> ");
    if (at == NULL)
        return;
    for (at += strlen(" -> "); *at != '\0' && *at != ';'; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, " ;,");
        const int found = find_switch(at, length);
        const char *state = at + length + strspn(at + length, " ");
        const int on = strncmp(state, "on", 2) == 0;
        at = state + strcspn(state, ",;");
        if (found < 0)
            continue;
        if (s->switches[found].count[on]++ == 0)
            snprintf(s->switches[found].first[on], ANE_SUMMARY_ITEM, "%.*s", ANE_SUMMARY_ITEM - 1, item);
        s->settled++;
    }
}

static void put_switch(const ane_summary *s, int i, FILE *report)
{
    const char *name = mw__switch_rows()[i].name;
    const size_t off = s->switches[i].count[0], on = s->switches[i].count[1];
    if (on > 0 && off > 0)
        fprintf(report, "%-20s both: on by %zu (%s ..), off by %zu (%s ..)\n", name, on, s->switches[i].first[1], off,
                s->switches[i].first[0]);
    else if (on + off > 0)
        fprintf(report, "%-20s %s, by %zu\n", name, on > 0 ? "on" : "off", on + off);
    else
        fprintf(report, "%-20s no answer\n", name);
}

/* How many switches of a profile the answers contradict; their names. */
static size_t count_contradicted(const ane_summary *s, mw__arithmetic profile, char *out, size_t size)
{
    size_t count = 0, at = 0;
    out[0] = '\0';
    for (int i = 0; i < MW__SWITCH_COUNT; i++) {
        const int on = (profile >> i & 1) != 0;
        if (s->switches[i].count[!on] == 0)
            continue;
        count++;
        if (at < size)
            at += (size_t)snprintf(out + at, size - at, " %s", mw__switch_rows()[i].name);
    }
    return count;
}

static size_t count_row(const ane_summary *s, const mw__chip_row *row, char *out, size_t size)
{
    return row->has_arithmetic ? count_contradicted(s, mw__arithmetic_of(row->chip), out, size)
                               : (size_t)MW__SWITCH_COUNT + 1;
}

/* All that are as near as the nearest: two chips may have one profile. */
static void put_nearest(const ane_summary *s, FILE *report)
{
    const mw__chip_row *row;
    char words[512];
    size_t least = (size_t)MW__SWITCH_COUNT + 1;
    for (size_t i = 0; (row = mw__chip_at(i)) != NULL; i++) {
        const size_t count = count_row(s, row, words, sizeof words);
        least = count < least ? count : least;
    }
    for (size_t i = 0; (row = mw__chip_at(i)) != NULL; i++)
        if (count_row(s, row, words, sizeof words) == least)
            fprintf(report, "%-20s %s%s%s\n", "nearest profile", row->name, least > 0 ? ", but for" : "", words);
}

void ane_summary_put(const ane_summary *s, FILE *report)
{
    if (s->settled == 0)
        return;
    fprintf(report, "\nWhat the answers settle (src/rules/arithmetic.def)\n");
    for (int i = 0; i < MW__SWITCH_COUNT; i++)
        put_switch(s, i, report);
    put_nearest(s, report);
}
