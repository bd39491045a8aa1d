/* Every VJP against central differences: f and the gradient graph are both evaluated by the oracle in double, so that
 * what is tested is the rule alone. The same for the gradient of the gradient. */
#include "slope.h"
#include "support/check.h"

#include <millwright/millwright.h>

/* Returns true if the case was differentiated. */
static bool check_case(const op_case *c)
{
    slope_problem p;
    mw_error err = {0};
    mw_tensor *dx[OP_CASE_INPUTS], *ddx[OP_CASE_INPUTS];
    if (!slope_init(&p, c)) {
        mw_graph_check(p.instance.graph, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message);
        slope_deinit(&p);
        return false; /* integers */
    }
    mw_grad(p.value, p.x, p.count, dx, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message)) {
        slope_check(c, &p, p.value, dx, "first");
        mw_tensor *sum = NULL;
        for (size_t i = 0; i < p.count; i++) {
            mw_tensor *part = slope_weighted_sum(dx[i], 17 + i);
            sum = sum == NULL ? part : mw_add(sum, part);
        }
        mw_grad(sum, p.x, p.count, ddx, &err);
        if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s", c->name, c->detail, err.message))
            slope_check(c, &p, sum, ddx, "second");
    }
    slope_deinit(&p);
    return true;
}

static void test_first_and_second_derivatives(void) { op_cases_check_derivatives("VJP", check_case); }

int main(void)
{
    RUN(test_first_and_second_derivatives);
    return check_finish();
}
