#include "summary.h"

#include "support/check.h"

#include <stdio.h>
#include <string.h>

/* Findings of one verdict, each rule once, in the order in which it is found first. */
static size_t put_verdict(const mw_chip_report *report, mw_chip_verdict verdict, const char *word, char *out,
                          size_t size)
{
    size_t used = 0;
    for (size_t i = 0; mw_chip_report_finding_at(report, i) != NULL; i++) {
        const mw_chip_finding *f = mw_chip_report_finding_at(report, i);
        size_t times = 0, before = 0;
        for (size_t k = 0; mw_chip_report_finding_at(report, k) != NULL; k++) {
            const mw_chip_finding *other = mw_chip_report_finding_at(report, k);
            const bool same = other->verdict == verdict && strcmp(other->rule, f->rule) == 0;
            times += same;
            before += same && k < i;
        }
        if (f->verdict == verdict && before == 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s %zu", used > 0 ? ", " : word, f->rule, times);
    }
    return used < size ? used : size - 1;
}

void summary_of(const mw_chip_report *report, char *out)
{
    static const char *const words[] = {"refused ", "warned ", "noted "};
    size_t used = 0;
    out[0] = '\0';
    for (int v = MW_CHIP_REFUSED; v <= MW_CHIP_NOTED; v++) {
        char part[SUMMARY_MAX / 3];
        part[0] = '\0';
        put_verdict(report, (mw_chip_verdict)v, words[v], part, sizeof part);
        if (part[0] != '\0')
            used += (size_t)snprintf(out + used, SUMMARY_MAX - used, "%s%s", used > 0 ? "; " : "", part);
    }
    if (used == 0)
        snprintf(out, SUMMARY_MAX, "nothing");
}

void summary_of_chips(const mw_graph *graph, char *out, size_t size)
{
    static char lines[5][SUMMARY_MAX];
    size_t used = 0;
    for (int i = 0; i < 5; i++) {
        mw_error err = {0};
        mw_chip_report *report = mw_chip_report_create(graph, (mw_chip)(MW_CHIP_H13 + i), NULL, &err);
        summary_of(report, lines[i]);
        if (!CHECK_OK(err))
            snprintf(lines[i], SUMMARY_MAX, "error %s", err.message);
        mw_chip_report_destroy(report);
    }
    out[0] = '\0';
    for (int i = 0; i < 5; i++) {
        const bool first = i == 0 || strcmp(lines[i], lines[i - 1]) != 0;
        const bool last = i == 4 || strcmp(lines[i], lines[i + 1]) != 0;
        used += (size_t)snprintf(out + used, size - used, "%s%s", first ? "" : " ",
                                 mw_chip_name((mw_chip)(MW_CHIP_H13 + i)));
        if (last)
            used += (size_t)snprintf(out + used, size - used, ": %s\n", lines[i]);
    }
}
