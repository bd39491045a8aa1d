/* Whether a case is right: against the plain run of the same values, or by a check of its own. */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static option_set of_kind(option_set set, option_kind kind)
{
    option_set found = 0;
    for (int o = 0; o < OPTIONS; o++)
        if (option_in(set, (option)o) && option_row_of((option)o)->kind == kind)
            found |= 1ULL << o;
    return found;
}

/* Only what the table knows may be refused, so that a refusal that nobody needs is seen. */
static bool may_be_refused(option_set set, const mw_error *err)
{
    for (int o = 0; o < OPTIONS; o++)
        for (int i = 0; option_in(set, (option)o) && option_row_of((option)o)->refused[i] != NULL; i++)
            if (strstr(err->message, option_row_of((option)o)->refused[i]) != NULL)
                return true;
    return false;
}

static verdict judge_error(option_set set, const mw_error *err, char why[CASE_WHY])
{
    snprintf(why, CASE_WHY, "%s", err->message);
    return may_be_refused(set, err) ? CASE_REFUSED : CASE_WRONG;
}

static verdict judge_net(const net *n, option_set set, char why[CASE_WHY])
{
    mw_error err = {0};
    bool good = true;
    if (option_in(set, OPTION_NATIVE))
        good = check_native(n, &err, why);
    if (good && option_in(set, OPTION_GRADIENT))
        good = check_gradient(n, &err, why);
    if (good && option_in(set, OPTION_SECOND))
        good = check_second(n, &err, why);
    if (err.status != MW_OK)
        return judge_error(set, &err, why);
    return good ? CASE_RIGHT : CASE_WRONG;
}

static void make_plain(plain_run *plain, const net *n, option_set set)
{
    if (plain->made && plain->set == set && memcmp(&plain->n, n, sizeof *n) == 0)
        return;
    plain->means = false;
    plain->made = true;
    plain->n = *n;
    plain->set = set;
    run_case(n, set, true, &plain->out);
}

/* Matrices that stand behind each other nine times in nested lists can make a training diverge, which is no fault: the
 * same net then trains at a rate that is much smaller. */
static bool diverges(const net *n, option_set values, const mw_error *err)
{
    if (err->status != MW_ERROR_NUMERIC)
        return false;
    net slow = *n;
    slow.slow = true;
    outcome *out = calloc(1, sizeof *out);
    run_case(&slow, values, true, out);
    const bool trains = out->err.status == MW_OK;
    free(out);
    return trains;
}

static verdict judge_run(const net *n, option_set set, plain_run *plain, char why[CASE_WHY])
{
    const option_set values = of_kind(set, OPTION_OF_VALUES);
    make_plain(plain, n, values);
    if (diverges(n, values, &plain->out.err)) {
        snprintf(why, CASE_WHY, "it diverges: %.200s", plain->out.err.message);
        return CASE_UNFIT;
    }
    if (plain->out.err.status != MW_OK)
        return judge_error(values, &plain->out.err, why);
    plain->means = plain->means || check_meaning(n, values, &plain->out, why);
    if (!plain->means)
        return CASE_WRONG;
    const allowance allowed = option_allowance(set, n);
    outcome *other = calloc(1, sizeof *other);
    run_case(n, set, false, other);
    verdict v = CASE_RIGHT;
    if (other->err.status != MW_OK)
        v = judge_error(set, &other->err, why);
    else if (!outcome_agrees(&plain->out, other, &allowed, why))
        v = CASE_WRONG;
    free(other);
    return v;
}

verdict case_judge(const net *n, option_set set, plain_run *plain, char why[CASE_WHY])
{
    why[0] = '\0';
    for (int o = 0; o < OPTIONS; o++) {
        const char *unfit = option_in(set, (option)o) ? option_unfit((option)o, set, n) : NULL;
        if (unfit != NULL)
            snprintf(why, CASE_WHY, "%s: %s", option_row_of((option)o)->name, unfit);
        if (unfit != NULL || (option_in(set, (option)o) && (option_row_of((option)o)->without & set) != 0))
            return CASE_UNFIT;
    }
    const char *known = case_known(n, set);
    if (known != NULL) {
        snprintf(why, CASE_WHY, "known: %s", known);
        return CASE_KNOWN;
    }
    const option_set of_net = of_kind(set, OPTION_OF_NET);
    const verdict v = of_net != 0 ? judge_net(n, of_net, why) : CASE_RIGHT;
    return v != CASE_RIGHT || set == of_net ? v : judge_run(n, set & ~of_net, plain, why);
}
