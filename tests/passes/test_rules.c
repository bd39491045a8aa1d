/* What the heads of rules say, and sets of names. */
#include "passes/rule.h"
#include "support/check.h"

/* Documents and `mw passes --list` show it. */
static void test_every_rule_says_why(void)
{
    for (int id = MW__RULE_NONE + 1; id < MW__RULE_COUNT; id++) {
        const mw__rule *rule = mw__pass_rule_of((mw__rule_id)id);
        check_note(rule->reason != NULL && rule->reason[0] != '\0', __FILE__, __LINE__, "%s has no reason", rule->name);
        check_note(rule->kind != MW__KIND_REWRITE || rule->wants != NULL, __FILE__, __LINE__, "%s wants nothing",
                   rule->name);
    }
}

/* `declined` stands before `reason` in a row. */
static void test_the_reason_of_a_pattern_is_not_why_it_declines(void)
{
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, same)                              \
    CHECK_STR(mw__pass_rule_of(MW__RULE_##id)->reason != NULL ? mw__pass_rule_of(MW__RULE_##id)->reason : "", same);
#include "passes/patterns.def"
}

static mw_status parse(const char *names, mw_error *err)
{
    mw__rule_set set = {0};
    return mw__pass_set_parse(&set, "names", names, err);
}

static void test_a_set_has_what_it_names_and_what_belongs_to_a_pass(void)
{
    mw_error err = {0};
    mw__rule_set set = {0};
    CHECK_INT(mw__pass_set_parse(&set, "names", "fit,conv.columns", &err), MW_OK);
    CHECK(mw__pass_set_has(&set, MW__RULE_fit) && mw__pass_set_has(&set, MW__RULE_conv_columns));
    CHECK(!mw__pass_set_has(&set, MW__RULE_sine) && mw__pass_set_leaves_out(&set, MW__RULE_sine));
    CHECK(!mw__pass_set_leaves_out(&set, MW__RULE_conv_columns_bias));
}

static void test_a_name_that_is_unknown_or_required_is_refused(void)
{
    mw_error err = {0};
    CHECK_INT(parse("fit,conv", &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "names: \"conv\" is no pass and no rule");
    mw_error_clear(&err);
    CHECK_INT(parse("kernels", &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "names: \"kernels\" cannot be left out");
    CHECK_INT(parse(",", &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(parse("", &err), MW_OK);
    CHECK_INT(parse(NULL, &err), MW_OK);
}

/* mw__mil_rewrites takes them from the first to the last, a bit each. */
static void test_rewrites_of_a_pass_stand_together(void)
{
    for (int id = MW__RULE_FIRST_REWRITE; id < MW__RULE_FIRST_PATTERN; id++) {
        const mw__rule_id pass = mw__pass_rule_of((mw__rule_id)id)->pass;
        const bool begins = id == MW__RULE_FIRST_REWRITE || mw__pass_rule_of((mw__rule_id)(id - 1))->pass != pass;
        int count = 0;
        for (int other = MW__RULE_FIRST_REWRITE; other < MW__RULE_FIRST_PATTERN; other++) {
            const bool same = mw__pass_rule_of((mw__rule_id)other)->pass == pass;
            count += same;
            check_note(!begins || !same || other >= id, __FILE__, __LINE__, "%s is apart from the rows of its pass",
                       mw__pass_rule_of((mw__rule_id)id)->name);
        }
        check_note(count < 64, __FILE__, __LINE__, "pass %d has %d rewrites", (int)pass, count);
    }
}

int main(void)
{
    RUN(test_every_rule_says_why);
    RUN(test_the_reason_of_a_pattern_is_not_why_it_declines);
    RUN(test_a_set_has_what_it_names_and_what_belongs_to_a_pass);
    RUN(test_a_name_that_is_unknown_or_required_is_refused);
    RUN(test_rewrites_of_a_pass_stand_together);
    return check_finish();
}
