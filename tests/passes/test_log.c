/* What a run of a pass counts and notes (passes/log.h). */
#include "graph/ir/ir.h"
#include "passes/log.h"
#include "support/check.h"

#include <millwright/millwright.h>

static void check_taken_back(void *user, const mw_pass *pass)
{
    *(bool *)user = true;
    REQUIRE(pass->rule_count == 1 && pass->note_count == 1);
    CHECK_STR(pass->rules[0].name, "lookup");
    CHECK_INT(pass->rules[0].hits, 1);
    CHECK_INT(pass->rules[0].refusals, 1);
    CHECK_STR(pass->notes[0].operation, "second");
    CHECK_STR(pass->notes[0].refused, "needed elsewhere");
}

static void test_what_is_taken_back_is_noted_as_refused(void)
{
    bool told = false;
    mw__pass_log log;
    mw__pass_run run;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *first = mw_exp(mw_input(graph, "x", MW_F32, MW_SHAPE(2)));
    mw_tensor *second = mw_exp(first);
    mw_output(first, "first"), mw_output(second, "second");
    mw__pass_log_init(&log, mw__allocator_default());
    log.report = check_taken_back, log.user = &told, log.why = "second";
    mw__pass_begin(&run, &log, MW__RULE_patterns, NULL, 2);
    mw__pass_hit(&log, MW__RULE_lookup, first->op);
    mw__pass_hit(&log, MW__RULE_lookup, second->op);
    mw__pass_take_back(&log, MW__RULE_lookup, second->op, "needed elsewhere");
    mw__pass_end(&run, &(mw__pass_result){.after = 2});
    CHECK(told);
    mw__pass_log_deinit(&log);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_what_is_taken_back_is_noted_as_refused);
    return check_finish();
}
