/* Texts that lie about branches, loops, lists and states: each is refused by name and place, by the verifier and by
 * what compiles; nesting as deep as the parser lets it be is compiled and run. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>

#define HEAD "program(1.3){func main<ios18>(tensor<fp32, [2]> x, tensor<int32, []> k, tensor<bool, []> p){\n"

typedef struct hostile {
    const char *text, *message;
    int line;
} hostile;

static const hostile texts[] = {
    {HEAD "tensor<fp32, [2]> y = while_loop(loop_vars = (x)); } -> (y);}",
     "while_loop \"y\": has 0 blocks; it needs two", 2},
    {HEAD "tensor<fp32, [2]> y = while_loop(loop_vars = (x)) (tensor<fp32, [2]> v) { } -> (p)"
          " (tensor<fp32, [3]> v) { } -> (x);} -> (y);}",
     "its body takes another type than loop_vars[0] has", 2},
    {HEAD "tensor<fp32, [2]> y = while_loop(loop_vars = (x)) () { } -> (p) (tensor<fp32, [2]> v) { } -> (v);} -> (y);}",
     "its condition takes 0 values for 1 loop_vars", 2},
    {HEAD "tensor<fp32, [2]> y = while_loop(loop_vars = (x)) (tensor<fp32, [2]> v) { } -> (p)"
          " (tensor<fp32, [2]> v) { } -> ();} -> (y);}",
     "its body gives 0 values for 1 loop_vars", 2},
    {HEAD "tensor<fp16, [2]> y = while_loop(loop_vars = (x)) (tensor<fp32, [2]> v) { } -> (p)"
          " (tensor<fp32, [2]> v) { } -> (v);} -> (y);}",
     "result 0 is declared fp16 [2], the rule gives fp32 [2]", 2},
    {HEAD "list<tensor<fp32, [2]>, 3> l = while_loop(loop_vars = (x)) (tensor<fp32, [2]> v) { } -> (p)"
          " (tensor<fp32, [2]> v) { } -> (v);} -> (x);}",
     "result 0 is declared with another type than the rule gives", 2},
    {HEAD "tensor<fp32, [2]> y = cond(pred = p) (tensor<fp32, [2]> v) { } -> (v) { } -> (x);} -> (y);}",
     "cond \"y\": its blocks have no inputs", 2},
    {HEAD "tensor<fp32, [2]> y = cond(pred = p) { } -> (x) { } -> (x, k);} -> (y);}",
     "its branches give 1 and 2 values", 2},
    {HEAD "tensor<fp32, [2]> y = cond(pred = k) { } -> (x) { } -> (x);} -> (y);}", "pred is int32, not bool", 2},
    {HEAD "list<tensor<fp32, [2]>, 3> l = make_list(elem_shape = (int32(3)), init_length = int32(3));} -> (x);}",
     "result 0 is declared with another type than the rule gives", 2},
    {HEAD "list<tensor<fp32, [2]>, 3> l = make_list(elem_shape = (x));} -> (x);}", "elem_shape must be constants", 2},
    {HEAD "list<tensor<fp32, [2]>, 3> l = make_list(dtype = string(\"fp33\"));} -> (x);}",
     "dtype \"fp33\" is no element type", 2},
    {HEAD "tensor<fp32, [2]> y = list_read(index = k, ls = x);} -> (y);}", "list_read \"y\": ls is not a list", 2},
    {HEAD "list<tensor<fp32, [2]>, 3> l = make_list(elem_shape = (int32(2)), init_length = int32(3));\n"
          "tensor<fp32, [2]> y = add(x = l, y = x);} -> (y);}",
     "add \"y\": x is not a tensor", 3},
    {HEAD "tensor<fp32, [2]> y = read_state(input = x);} -> (y);}", "read_state \"y\": input is not a state", 2},
    {HEAD "write_state(data = x, input = k);} -> (x);}", "input is not a state", 2},
    {"program(1.3){func main<ios18>(state<tensor<fp32, [3]>> s, tensor<fp32, [2]> x){\n"
     "write_state(data = x, input = s);} -> (x);}",
     "data is fp32 [2] where fp32 [3] is wanted", 2},
};

static mw_graph *parse(const char *text)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK_OK(err);
    return graph;
}

static void test_texts_that_lie_are_refused_with_their_place(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mw_error err = {0}, compiled = {0};
        mw_graph *graph = parse(texts[i].text);
        CHECK(mw_graph_verify(graph, &err) != MW_OK);
        check_note(strstr(err.message, texts[i].message) != NULL, __FILE__, __LINE__,
                   "text %zu: \"%s\" does not say \"%s\"", i, err.message, texts[i].message);
        CHECK_INT(err.text_line, texts[i].line);
        /* unverified, these survive; what no result needs is not looked at */
        mw_program_destroy(engine_compile(graph, MW_DEVICE_CPU, 1, &compiled));
        mw_graph_destroy(mw_graph_flatten(graph, NULL));
        mw_graph_destroy(graph);
    }
}

/* Branches inside each other, and loops: 2 x 25 levels. */
static void test_deep_nesting_runs(void)
{
    enum { DEPTH = 25, ROOM = 1 << 15 };
    static char text[ROOM];
    size_t used = (size_t)snprintf(text, ROOM,
                                   "%s int32 one = const()[val = int32(1)]; bool no = const()[val = "
                                   "bool(false)];",
                                   HEAD);
    for (int i = 0; i < DEPTH; i++)
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "tensor<fp32, [2]> c%d = cond(pred = p) { tensor<fp32, [2]> w%d, bool b%d = "
                                 "while_loop(loop_vars = (x, p)) (tensor<fp32, [2]> v%d, bool f%d) { } -> (f%d)"
                                 " (tensor<fp32, [2]> u%d, bool g%d) {\n",
                                 i, i, i, i, i, i, i, i);
    used += (size_t)snprintf(text + used, ROOM - used, "tensor<fp32, [2]> c%d = add(x = x, y = x);", DEPTH);
    for (int i = DEPTH; i-- > 0;)
        used += (size_t)snprintf(text + used, ROOM - used, "} -> (c%d, no); } -> (w%d) { } -> (x);\n", i + 1, i);
    snprintf(text + used, ROOM - used, "} -> (c0);}");
    mw_error err = {0};
    mw_graph *graph = parse(text);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 2, &err);
    const float x[2] = {1.5F, -2.0F};
    float y[2] = {0};
    const bool p = true;
    mw_program_write(program, "x", MW_F32, x, 2, &err);
    mw_program_write(program, "p", MW_BOOL, &p, 1, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "c0", MW_F32, y, 2, &err);
    CHECK_OK(err);
    CHECK(y[0] == 3.0F && y[1] == -4.0F);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_texts_that_lie_are_refused_with_their_place);
    RUN(test_deep_nesting_runs);
    return check_finish();
}
