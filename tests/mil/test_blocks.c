/* Forms that our own constructors do not make: nested blocks, several functions, states, lists, `?` extents. The text
 * of nested blocks is a guess (no public sample exists), so the reader takes it with and without its optional parts. */
#include "graph/ir/ir.h"
#include "support/check.h"

#include <millwright/mil.h>
#include <millwright/program.h>

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

/* Prints, reads back and prints again; the first text is given to `look`. */
static void check_fixed_point(const char *text, void (*look)(const char *printed, const mw_graph *graph))
{
    mw_error err = {0};
    mw_graph *graph = parse(text, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    char *once = mw_graph_print_mil(graph, NULL, &err);
    mw_graph *again = once != NULL ? parse(once, &err) : NULL;
    char *twice = again != NULL ? mw_graph_print_mil(again, NULL, &err) : NULL;
    CHECK_OK(err);
    if (CHECK(twice != NULL)) {
        CHECK_STR(twice, once);
        look(once, again);
    }
    mw_string_free(twice);
    mw_string_free(once);
    mw_graph_destroy(again);
    mw_graph_destroy(graph);
}

static const char branches[] =
    "program(1.3){func main<ios18>(tensor<fp32, [2]> x, tensor<bool, []> p){"
    "tensor<fp32, [2]> r = cond(pred = p)[name = string(\"r\")]"
    " () { tensor<fp32, [2]> a = relu(x = x)[name = string(\"a\")]; } -> (a)%s"
    " %s { tensor<fp32, [2]> a = abs(x = x)[name = string(\"a\")]; tensor<fp32, [2]> b = abs(x = a); } -> (b);"
    "} -> (r);}";

static void look_at_branches(const char *printed, const mw_graph *graph)
{
    const mw__op *op = graph->functions[0]->body->ops[0];
    CHECK_STR(op->kind, "cond");
    CHECK_INT(op->block_count, 2);
    CHECK_INT(op->blocks[1]->op_count, 2); /* one name in two branches is two values */
    CHECK_CONTAINS(printed, "} -> (b);");
}

static void test_branches_are_read_with_and_without_their_optional_parts(void)
{
    static const char *const ends[] = {"", ";"}, *const parameters[] = {"", "()"};
    for (int i = 0; i < 4; i++) {
        char text[1024];
        snprintf(text, sizeof text, branches, ends[i % 2], parameters[i / 2]);
        check_fixed_point(text, look_at_branches);
    }
}

static void look_at_loop(const char *printed, const mw_graph *graph)
{
    const mw__op *op = graph->functions[0]->body->ops[0];
    CHECK_STR(op->kind, "while_loop");
    CHECK_INT(op->result_count, 2);
    REQUIRE(op->block_count == 2);
    CHECK_INT(op->blocks[0]->input_count, 2);
    CHECK_INT(op->blocks[1]->output_count, 2);
    CHECK(op->blocks[1]->ops[0]->block_count == 2); /* a branch in the loop */
    CHECK_CONTAINS(printed, "(tensor<fp32, [?]> v2, bool v3) {");
}

static void test_a_loop_with_a_branch_in_it_comes_back(void)
{
    check_fixed_point("program(1.3){func main<ios18>(tensor<fp32, [?]> x, tensor<bool, []> p){"
                      "tensor<fp32, [?]> s, tensor<bool, []> n = while_loop(loop_vars = (x, p))[name = string(\"w\")]"
                      " (tensor<fp32, [?]> v0, tensor<bool, []> v1)"
                      " { tensor<bool, []> c = logical_not(x = v1); } -> (c)"
                      " (tensor<fp32, [?]> v2, tensor<bool, []> v3)"
                      " { tensor<fp32, [?]> d = cond(pred = v3)"
                      "   { tensor<fp32, [?]> e = relu(x = v2); } -> (e) { tensor<fp32, [?]> f = abs(x = v2); } -> (f);"
                      " } -> (d, v3);"
                      "} -> (s);}",
                      look_at_loop);
}

static void look_at_functions(const char *printed, const mw_graph *graph)
{
    CHECK_INT(graph->function_count, 2);
    CHECK_CONTAINS(printed, "func second<ios17>(");
    CHECK_CONTAINS(printed, "state<tensor<fp16, [4]>> cache");
    CHECK_CONTAINS(printed, "list<");
}

static void test_functions_states_and_lists_come_back(void)
{
    check_fixed_point("program(1.3){"
                      "func main<ios18>(state<tensor<fp16, [4]>> cache, list<tensor<fp32, [2]>, 3> l){"
                      "tensor<fp16, [4]> v = read_state(input = cache);} -> (v);"
                      "func second<ios17>(tensor<fp32, [2]> x){tensor<fp32, [2]> y = relu(x = x);} -> (y);}",
                      look_at_functions);
}

static void test_what_needs_the_meaning_of_a_block_says_so(void)
{
    static const char text[] = "program(1.3){func main<ios18>(tensor<fp32, [2]> x, tensor<bool, []> p){"
                               "tensor<fp32, [2]> r = perhaps(pred = p)"
                               " { tensor<fp32, [2]> a = relu(x = x); } -> (a); } -> (r);}";
    mw_error err = {0}, compiled = {0};
    mw_graph *graph = parse(text, &err);
    CHECK_OK(err);
    CHECK(mw_graph_verify(graph, &err) == MW_ERROR_UNSUPPORTED);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "perhaps");
    CHECK(mw_program_create(graph, NULL, &compiled) == NULL);
    CHECK(compiled.status != MW_OK && strstr(compiled.message, "perhaps") != NULL);
    mw_graph_destroy(graph);
}

static void test_a_branch_that_was_read_is_verified_and_compiled(void)
{
    char text[1024];
    mw_error err = {0};
    snprintf(text, sizeof text, branches, "", "");
    mw_graph *graph = parse(text, &err);
    CHECK_INT(mw_graph_verify(graph, &err), MW_OK);
    mw_program *program = mw_program_create(graph, NULL, &err);
    CHECK_OK(err);
    CHECK(program != NULL);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_values_of_a_block_are_not_seen_outside(void)
{
    mw_error err = {0};
    CHECK(parse("program(1.3){func main<ios18>(tensor<fp32, [2]> x, tensor<bool, []> p){\n"
                "tensor<fp32, [2]> r = cond(pred = p) { tensor<fp32, [2]> a = relu(x = x); } -> (a)"
                " { tensor<fp32, [2]> b = relu(x = x); } -> (b);\n"
                "tensor<fp32, [2]> s = add(x = r, y = a);} -> (s);}",
                &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "\"a\"");
    CHECK_INT(err.text_line, 3);
}

int main(void)
{
    RUN(test_branches_are_read_with_and_without_their_optional_parts);
    RUN(test_a_loop_with_a_branch_in_it_comes_back);
    RUN(test_functions_states_and_lists_come_back);
    RUN(test_what_needs_the_meaning_of_a_block_says_so);
    RUN(test_a_branch_that_was_read_is_verified_and_compiled);
    RUN(test_values_of_a_block_are_not_seen_outside);
    return check_finish();
}
