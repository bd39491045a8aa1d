/* Every case as MIL text: print, parse and print give the same text, and the parsed program verifies. */
#include "support/cases/op_cases.h"
#include "support/check.h"

#include <millwright/millwright.h>

static void check_case(const op_case *c, mw_dtype real)
{
    op_instance instance;
    mw_error err = {0};
    if (check_note(op_instance_init(&instance, c, real, 1), __FILE__, __LINE__, "%s (%s)", c->name, c->detail))
        mw_output(instance.y, "y");
    char *text = mw_graph_print_mil(instance.graph, NULL, &err);
    mw_graph *parsed = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
    char *again = parsed != NULL ? mw_graph_print_mil(parsed, NULL, &err) : NULL;
    if (parsed != NULL)
        mw_graph_verify(parsed, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s (%s): %s\n%s", c->name, c->detail, err.message,
               text != NULL ? text : "");
    if (text != NULL && again != NULL)
        check_note(strcmp(text, again) == 0, __FILE__, __LINE__, "%s (%s): printed\n%s\nthen\n%s", c->name, c->detail,
                   text, again);
    mw_string_free(again);
    mw_graph_destroy(parsed);
    mw_string_free(text);
    op_instance_deinit(&instance);
}

static void test_every_case_comes_back_from_text(void)
{
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++) {
        check_case(c, MW_F32);
        check_case(c, MW_F16);
    }
}

int main(void)
{
    RUN(test_every_case_comes_back_from_text);
    return check_finish();
}
