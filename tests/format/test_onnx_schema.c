/* Models that are written satisfy the published schema, also where MIL is freer than ONNX; and what does not is found.
 */
#include "onnx_bytes.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <millwright/onnx_check.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- programs that MIL takes ---- */

/* A and B are two element types; x [2, 4, 6] and y [2, 6, 4] are inputs, q has no name of its own. */
static const char *const mixed[] = {
    "tensor<B, [3, 4, 3]> w = const()[val = tensor<B, [3, 4, 3]>(0x1.4p-2)];\n"
    "tensor<A, [2, 3, 4]> q = conv(weight = w, x = x, pad_type = \"valid\")[name = \"q\"];",
    "tensor<B, [4, 3, 3]> w = const()[val = tensor<B, [4, 3, 3]>(0x1.4p-2)];\n"
    "tensor<B, [3]> b = const()[val = tensor<B, [3]>([0x1p-1, 0x1p+0, -0x1p+0])];\n"
    "tensor<A, [2, 3, 8]> q = conv_transpose(weight = w, x = x, bias = b, pad_type = \"valid\")[name = \"q\"];",
    "tensor<B, [3, 6]> w = const()[val = tensor<B, [3, 6]>(0x1.4p-2)];\n"
    "tensor<B, [3]> b = const()[val = tensor<B, [3]>([0x1p-1, 0x1p+0, -0x1p+0])];\n"
    "tensor<A, [2, 4, 3]> q = linear(weight = w, x = x, bias = b)[name = \"q\"];",
    "tensor<B, [6, 3]> w = const()[val = tensor<B, [6, 3]>(0x1.4p-2)];\n"
    "tensor<A, [2, 4, 3]> q = matmul(x = x, y = w)[name = \"q\"];",
    "tensor<B, [4]> m = const()[val = tensor<B, [4]>([0x1p-1, 0x1p+0, -0x1p+0, 0x0p+0])];\n"
    "tensor<B, [4]> v = const()[val = tensor<B, [4]>([0x1p-1, 0x1p+0, 0x1p+0, 0x1p+1])];\n"
    "tensor<A, [2, 4, 6]> q = batch_norm(x = x, mean = m, variance = v, gamma = v, beta = m)[name = \"q\"];",
    "tensor<B, [4]> m = const()[val = tensor<B, [4]>([0x1p-1, 0x1p+0, -0x1p+0, 0x0p+0])];\n"
    "tensor<A, [2, 4, 6]> q = instance_norm(x = x, gamma = m, beta = m)[name = \"q\"];",
    "tensor<B, [6]> m = const()[val = tensor<B, [6]>([0x1p-1, 0x1p+0, -0x1p+0, 0x0p+0, 0x1p+0, 0x1p+2])];\n"
    "tensor<int32, [1]> a = const()[val = tensor<int32, [1]>([-1])];\n"
    "tensor<A, [2, 4, 6]> q = layer_norm(x = x, axes = a, gamma = m)[name = \"q\"];",
    "tensor<B, [4]> m = const()[val = tensor<B, [4]>([0x1p-2, 0x1p-2, 0x1p-2, 0x1p-2])];\n"
    "tensor<A, [2, 4, 6]> q = prelu(x = x, alpha = m)[name = \"q\"];",
    "tensor<B, [4]> m = const()[val = tensor<B, [4]>([0x1p-1, 0x1p+0, 0x1p-2, 0x1p+1])];\n"
    "tensor<A, [2, 4, 6]> q = softplus_parametric(x = x, alpha = m, beta = m)[name = \"q\"];",
};

/* Blocks and scalars: conditions of one element, values that are chosen by a mask. */
static const char *const shaped[] = {
    "tensor<A, [1]> one = const()[val = tensor<A, [1]>([0x1p+0])];\n"
    "tensor<A, [1]> zero = const()[val = tensor<A, [1]>([0x0p+0])];\n"
    "tensor<A, [1]> most = const()[val = tensor<A, [1]>([0x1.8p+1])];\n"
    "tensor<A, [1]> s, tensor<A, [1]> n = while_loop(loop_vars = (one, zero))[name = \"loop\"]\n"
    "(tensor<A, [1]> s0, tensor<A, [1]> n0) {\n"
    "    tensor<bool, [1]> goes = less(x = n0, y = most)[name = \"goes\"];\n"
    "} -> (goes)\n"
    "(tensor<A, [1]> s0, tensor<A, [1]> n0) {\n"
    "    tensor<A, [1]> s1 = add(x = s0, y = s0)[name = \"s1\"];\n"
    "    tensor<A, [1]> n1 = add(x = n0, y = one)[name = \"n1\"];\n"
    "} -> (s1, n1);\n"
    "tensor<A, [2, 4, 6]> q = mul(x = x, y = s)[name = \"q\"];",
    "tensor<A, [2, 4, 6]> z = const()[val = tensor<A, [2, 4, 6]>(0x0p+0)];\n"
    "tensor<bool, [2, 4, 6]> m = greater(x = x, y = z)[name = \"m\"];\n"
    "tensor<A, []> a = const()[val = tensor<A, []>(0x1p+0)];\n"
    "tensor<A, []> b = const()[val = tensor<A, []>(-0x1p+0)];\n"
    "tensor<A, [2, 4, 6]> q = select(cond = m, a = a, b = b)[name = \"q\"];",
};

/* The statements as a program with the types in their places; strings become literals. */
static char *program_of(const char *statements, const char *a, const char *b)
{
    static char text[8192];
    char *at = text;
    at += sprintf(at,
                  "program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n    func main<ios17>(tensor<%s, [2, 4, 6]> "
                  "x) {\n",
                  a);
    for (const char *from = statements; *from != '\0'; from++) {
        if (from[0] == '<' && (from[1] == 'A' || from[1] == 'B') && from[2] == ',') {
            at += sprintf(at, "<%s", from[1] == 'A' ? a : b);
            from++;
        } else if (from[0] == '"') {
            const char *end = strchr(from + 1, '"');
            at += sprintf(at, "string(\"%.*s\")", (int)(end - from - 1), from + 1);
            from = end;
        } else {
            *at++ = *from;
        }
    }
    sprintf(at, "\n    } -> (q);\n}\n");
    return text;
}

static size_t run_model(const mw_graph *graph, float *out, mw_error *err)
{
    float x[2 * 4 * 6];
    for (int i = 0; i < 48; i++)
        x[i] = (float)(i * 7 % 23 - 11) / 8;
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    const mw_tensor *q = mw_graph_output_at(graph, 0);
    const size_t count = q != NULL ? (size_t)mw_shape_count(mw_tensor_shape(q)) : 0;
    mw_program_write(program, "x", MW_F32, x, 48, err);
    mw_program_run(program, err);
    mw_program_read(program, "q", MW_F32, out, count, err);
    mw_program_destroy(program);
    return count;
}

static bool has_protobuf(const mw_error *err) { return strstr(err->message, "without protobuf-c") == NULL; }

/* Written, valid by the schema, and read back with the same values. */
static void check_program(const char *statements, const char *a, const char *b)
{
    float want[256], got[256];
    mw_error err = {0};
    const char *text = program_of(statements, a, b);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    if (!check_note(graph != NULL, __FILE__, __LINE__, "%s\n%s", err.message, text))
        return;
    mw_graph_write(graph, "model.onnx", NULL, &err);
    if (has_protobuf(&err)) {
        check_note(mw_onnx_check("model.onnx", &err) == MW_OK, __FILE__, __LINE__, "%s\n%s", err.message, text);
        mw_graph *read = mw_graph_open_onnx("model.onnx", NULL, &err);
        const size_t count = run_model(graph, want, &err), same = run_model(read, got, &err);
        check_note(err.status == MW_OK && count == same, __FILE__, __LINE__, "%s\n%s", err.message, text);
        for (size_t i = 0; err.status == MW_OK && i < count && i < same; i++)
            CHECK_NEAR(got[i], want[i], 2e-3 * (1 + fabs((double)want[i])));
        mw_graph_destroy(read);
    }
    mw_graph_destroy(graph);
}

static void test_operands_of_two_types_are_written_with_casts(void)
{
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
        check_program(mixed[i], "fp16", "fp32");
        check_program(mixed[i], "fp32", "fp16");
        check_program(mixed[i], "fp16", "fp16");
    }
}

static void test_conditions_of_one_element_are_written_as_scalars(void)
{
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++) {
        check_program(shaped[i], "fp32", "fp32");
        check_program(shaped[i], "fp16", "fp16");
    }
}

/* ---- files that are not valid ---- */

typedef struct broken {
    const char *operation, *inputs; /* of the node; x and z are float, w is float16, n an int64, all [2, 3] */
    const char *attribute;          /* an integer 1, or NULL */
    const char *rule;               /* in the message; NULL = it is valid */
} broken;

static const broken breaks[] = {
    {"Add", "x z", NULL, NULL},
    {"Add", "x w", NULL, "input 1 is of type 10, where T is 1 already"},
    {"Add", "x", NULL, "an input is missing"},
    {"Add", "x z z", NULL, "input 2 is more than it takes"},
    {"Add", "x -", NULL, "input 1 is left out"},
    {"Add", "x later", NULL, "nothing before it gives"},
    {"Addd", "x z", NULL, "no such operator"},
    {"And", "x z", NULL, "input 0 is of type 1"},
    {"Add", "x z", "axis", "attribute \"axis\" is none"},
    {"Concat", "x z", "axis", NULL},
    {"Concat", "x z", NULL, "attribute \"axis\" is missing"},
    {"LeakyRelu", "x", "alpha", "attribute \"alpha\" is of another kind"},
    {"Conv", "x z", NULL, "input 0 has rank 2, the schema wants 3 at least"},
    {"Gemm", "x z", NULL, NULL},
    {"Range", "x z x", NULL, "input 0 has rank 2, the schema wants 0"},
    {"Reshape", "x n", NULL, "input 1 has rank 2, the schema wants 1"},
    {"Identity", "w", NULL, "another type or rank"},
};

static void add_value(onnx_bytes *graph, unsigned field, const char *name, int type)
{
    onnx_bytes two = {0}, three = {0}, shape = {0}, tensor = {0}, whole = {0}, value = {0};
    onnx_number(&two, 1, 2);
    onnx_number(&three, 1, 3);
    onnx_message(&shape, 1, &two);
    onnx_message(&shape, 1, &three);
    onnx_number(&tensor, 1, (uint64_t)type);
    onnx_message(&tensor, 2, &shape);
    onnx_message(&whole, 1, &tensor);
    onnx_text(&value, 1, name);
    onnx_message(&value, 2, &whole);
    onnx_message(graph, field, &value);
}

static void write_broken(const broken *b)
{
    onnx_bytes graph = {0}, set = {0}, model = {0}, node = onnx_node(b->operation, b->inputs, "y");
    if (b->attribute != NULL)
        onnx_int_attribute(&node, b->attribute, 1);
    onnx_message(&graph, 1, &node);
    onnx_text(&graph, 2, "main");
    add_value(&graph, 11, "x", 1);
    add_value(&graph, 11, "z", 1);
    add_value(&graph, 11, "w", 10);
    add_value(&graph, 11, "n", 7);
    add_value(&graph, 12, "y", 1);
    onnx_number(&set, 2, 17);
    onnx_number(&model, 1, 8);
    onnx_message(&model, 7, &graph);
    onnx_message(&model, 8, &set);
    FILE *file = fopen("broken.onnx", "wb");
    REQUIRE(file != NULL);
    fwrite(model.data, 1, model.size, file);
    fclose(file);
}

static void test_files_that_break_the_schema_are_found(void)
{
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        mw_error err = {0};
        const broken *b = &breaks[i];
        write_broken(b);
        const mw_status status = mw_onnx_check("broken.onnx", &err);
        if (!has_protobuf(&err))
            return;
        const bool right =
            b->rule == NULL ? status == MW_OK : status == MW_ERROR_FORMAT && strstr(err.message, b->rule) != NULL;
        check_note(right, __FILE__, __LINE__, "%s(%s): %s", b->operation, b->inputs, err.message);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_operands_of_two_types_are_written_with_casts);
    RUN(test_conditions_of_one_element_are_written_as_scalars);
    RUN(test_files_that_break_the_schema_are_found);
    folder_leave(folder);
    return check_finish();
}
