/* Every constructor that a case calls passes NULL operands on: no crash, and NULL comes back. */
#include "support/cases/op_cases.h"
#include "support/check.h"

static void test_every_case_passes_null_on(void)
{
    mw_tensor *const none[OP_CASE_INPUTS] = {NULL};
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        check_note(c->in[0].dtype == MW_DTYPE_NONE || c->build(none) == NULL, __FILE__, __LINE__,
                   "%s (%s) makes something of NULL", c->name, c->detail);
}

int main(void)
{
    RUN(test_every_case_passes_null_on);
    return check_finish();
}
