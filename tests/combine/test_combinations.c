/* Random nets, each with random sets of options, against the plain form run one operation at a time. What fails is made
 * smaller and printed as a line, which this program takes as its argument (a second one names a folder where the files
 * of the case stay):
 *
 *     build/release/tests/test_combine_combinations "1x1x1 mse sgd gelu +watch"
 *
 * MW_TEST_SEED and MW_TEST_COMBINATIONS choose others, MW_TEST_FAILURES how many are shown; MW_NIGHTLY=1 checks more.
 */
#include "case.h"
#include "support/check.h"
#include "support/child.h"
#include "support/folder.h"
#include "support/night.h"
#include "support/setting.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SETS = 4 };

typedef struct tally {
    long cases, right, refused, unfit, known;
    long of[OPTIONS], refused_of[OPTIONS];
} tally;

static option_set draw_set(const net *n, mw__random *random, option_set values, bool of_values)
{
    option_set set = values;
    for (int o = 0; o < OPTIONS; o++) {
        const option_row *row = option_row_of((option)o);
        const uint64_t once_in = row->kind == OPTION_OF_NET ? 12 : o == OPTION_RECOMPUTE ? 2 : 5;
        if ((row->kind == OPTION_OF_VALUES) != of_values || mw__random_below(random, once_in) != 0)
            continue;
        if (option_unfit((option)o, set, n) == NULL && (row->without & set) == 0)
            set |= 1ULL << o;
    }
    return set;
}

static void count(tally *t, option_set set, verdict v)
{
    t->cases++;
    t->right += v == CASE_RIGHT;
    t->refused += v == CASE_REFUSED;
    t->unfit += v == CASE_UNFIT;
    t->known += v == CASE_KNOWN;
    for (int o = 0; o < OPTIONS; o++) {
        t->of[o] += option_in(set, (option)o) && v == CASE_RIGHT;
        t->refused_of[o] += option_in(set, (option)o) && v == CASE_REFUSED;
    }
}

static void show(const tally *t)
{
    printf("%ld cases: %ld right, %ld refused, %ld unfit, %ld known to be wrong\n", t->cases, t->right, t->refused,
           t->unfit, t->known);
    for (int o = 0; o < OPTIONS; o++)
        printf("  %-14s %6ld  refused %ld\n", option_row_of((option)o)->name, t->of[o], t->refused_of[o]);
}

static void check_every_option(const tally *t)
{
    for (int o = 0; o < OPTIONS; o++)
        check_note(t->of[o] > 0 || option_lacks((option)o) != NULL, __FILE__, __LINE__, "no case with %s was right",
                   option_row_of((option)o)->name);
}

static void report(uint64_t seed, net n, option_set set, const char *why)
{
    char net_text[NET_TEXT], options[NET_TEXT], small[NET_TEXT], fewer[NET_TEXT], reason[CASE_WHY];
    net_print(&n, net_text);
    option_print(set, options);
    case_shrink(&n, &set, why);
    plain_run *plain = calloc(1, sizeof *plain);
    case_judge(&n, set, plain, reason);
    free(plain);
    net_print(&n, small);
    option_print(set, fewer);
    check_note(false, __FILE__, __LINE__, "number %llu: \"%s%s\": %s\n    smaller: \"%s%s\": %s",
               (unsigned long long)seed, net_text, options, why, small, fewer, reason);
}

static bool try_net(uint64_t seed, tally *t)
{
    char why[CASE_WHY];
    mw__random random = {.seed = seed, .stream = 40};
    net n;
    bool good = true;
    net_draw(&n, &random);
    plain_run *plain = calloc(1, sizeof *plain);
    const option_set values = draw_set(&n, &random, 0, true);
    for (int i = 0; good && i < SETS; i++) {
        const option_set set = draw_set(&n, &random, values, false);
        const verdict v = case_judge(&n, set, plain, why);
        count(t, set, v);
        good = v != CASE_WRONG;
        if (!good)
            report(seed, n, set, why);
    }
    free(plain);
    return good;
}

static void test_combinations_of_nets_and_options(void)
{
    char folder[512];
    const uint64_t first = number_from("MW_TEST_SEED", 1);
    const uint64_t usual = child_is_sanitized() ? 150 : 2000; /* there a case takes ten times as long */
    const uint64_t cases = number_from("MW_TEST_COMBINATIONS", night_has_come() ? 10 * usual : usual);
    const uint64_t failures = number_from("MW_TEST_FAILURES", 1);
    tally t = {0};
    uint64_t failed = 0;
    REQUIRE(folder_enter(folder));
    const time_t end = time(NULL) + (time_t)number_from("MW_COMBINE_SECONDS", 0); /* longer than the cases take */
    for (uint64_t seed = first; ((uint64_t)t.cases < cases || time(NULL) < end) && failed < failures; seed++)
        failed += !try_net(seed, &t);
    show(&t);
    if (cases >= 2000 && failed == 0)
        check_every_option(&t);
    CHECK(t.unfit * 500 <= t.cases); /* few nets diverge, so none hides a fault that does */
    folder_leave(folder);
}

/* ---- the test is able to fail, and shrinks ---- */

static void test_a_planted_fault_is_found_and_shrunk_to(void)
{
    char folder[512], why[CASE_WHY];
    const option_set set = 1ULL << OPTION_WATCH | 1ULL << OPTION_DISPATCH | 1ULL << OPTION_CLIP;
    option_set left = set;
    net n;
    REQUIRE(folder_enter(folder));
    plain_run *plain = calloc(1, sizeof *plain);
    REQUIRE(net_parse(&n, "3x2x3 huber adam dense4,loop2(dense3,gelu,outer),seg(fixed2,tanh),ln") != NULL);
    CHECK_INT(case_judge(&n, set, plain, why), CASE_RIGHT);
    n.planted = true;
    CHECK_INT(case_judge(&n, set, plain, why), CASE_WRONG);
    CHECK_CONTAINS(why, "prediction[8]");
    case_shrink(&n, &left, why);
    CHECK_INT(left, 1ULL << OPTION_WATCH);
    CHECK(n.count == 1 && n.layers[0].kind == NET_GELU && n.examples * n.steps * n.features == 1);
    free(plain);
    folder_leave(folder);
}

/* ---- one case, from the command line ---- */

static const char *line, *kept;

static void test_the_case_of_the_line(void)
{
    net n;
    option_set set = 0;
    char why[CASE_WHY], folder[512];
    const char *rest = net_parse(&n, line);
    REQUIRE(rest != NULL && option_parse(&set, rest));
    REQUIRE(kept != NULL ? chdir(kept) == 0 : folder_enter(folder));
    plain_run *plain = calloc(1, sizeof *plain);
    const verdict v = case_judge(&n, set, plain, why);
    check_note(v != CASE_WRONG, __FILE__, __LINE__, "%s: %s", line, why);
    static const char *const names[] = {"right", "refused", "unfit", "known", "wrong"};
    printf("%s: %s\n", names[v], why);
    free(plain);
    if (kept == NULL)
        folder_leave(folder);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        line = argv[1];
        kept = argc > 2 ? argv[2] : NULL;
        RUN(test_the_case_of_the_line);
    } else {
        RUN(test_a_planted_fault_is_found_and_shrunk_to);
        RUN(test_combinations_of_nets_and_options);
    }
    return check_finish();
}
