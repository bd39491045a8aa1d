/* Numbers that shapes follow from keep their precision on a device that computes in fp16: every extent is the CPU's. */
#include "base/number/fp16.h"
#include "graph/transform/clone/clone.h"
#include "mil/legalize/legal_form.h"
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"

/* ---- programs ---- */

static mw_graph *parse(const char *inputs, const char *body, mw_error *err)
{
    char text[2048];
    snprintf(text, sizeof text, "program(1.3)\n{func main<ios18>(%s) {%s} -> (y);}", inputs, body);
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

/* The shape of the first output in the form for the ANE. */
static mw_shape legal_shape(const mw_graph *graph, mw_error *err)
{
    mw__legal_form form;
    const mw__legal_options how = {.device = mw__device_find(MW_DEVICE_ANE)};
    mw_shape shape = {.rank = -1};
    if (mw__legal_form_make(graph, &how, &form, err) == MW_OK)
        shape = mw_tensor_shape(mw__graph_main(form.graph)->body->outputs[0]);
    mw__legal_form_deinit(&form);
    return shape;
}

static void check_shape(mw_shape have, mw_shape want, const char *what, double number)
{
    char a[200], b[200];
    check_note(mw_shape_equal(have, want), __FILE__, __LINE__, "%s by %.9g: %s, not %s", what, number,
               mw__shape_print(have, a, sizeof a), mw__shape_print(want, b, sizeof b));
}

/* ---- factors ---- */

static void check_factor(const char *operation, int in, int out, bool inlined)
{
    mw_error err = {0};
    char inputs[80], body[600], number[60];
    const float factor = nextafterf((float)out / (float)in, (float)out);
    snprintf(inputs, sizeof inputs, "tensor<fp16, [1, 2, %d, %d]> x", in, in);
    snprintf(number, sizeof number, inlined ? "fp32(%a)" : "s", (double)factor);
    snprintf(body, sizeof body,
             "fp32 s = const()[val = fp32(%a)]; tensor<fp16, [1, 2, %d, %d]> y = %s(%sscale_factor_height = %s, "
             "scale_factor_width = %s, x = x);",
             (double)factor, out, out, operation, strstr(operation, "bilinear") ? "align_corners = bool(true), " : "",
             number, number);
    mw_graph *graph = parse(inputs, body, &err);
    check_shape(graph != NULL ? legal_shape(graph, &err) : (mw_shape){0}, MW_SHAPE(1, 2, out, out), operation,
                (double)factor);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_a_factor_makes_the_same_extents_on_the_ane(void)
{
    for (int in = 3; in < 40; in += 4)
        for (int out = 2; out < 90; out += 5) {
            check_factor("upsample_bilinear", in, out, false);
            check_factor("upsample_nearest_neighbor", in, out, true);
        }
}

/* What fp16 holds is written as before. */
static void test_a_factor_that_fp16_holds_is_fp16(void)
{
    mw_error err = {0};
    mw__legal_form form;
    const mw__legal_options how = {.device = mw__device_find(MW_DEVICE_ANE)};
    mw_graph *graph = parse("tensor<fp32, [1, 2, 4, 4]> x",
                            "fp32 s = const()[val = fp32(2.5)]; tensor<fp32, [1, 2, 10, 10]> y = "
                            "upsample_nearest_neighbor(scale_factor_height = s, scale_factor_width = s, x = x);",
                            &err);
    REQUIRE(graph != NULL && mw__legal_form_make(graph, &how, &form, &err) == MW_OK);
    char *text = mw_graph_print_mil(form.graph, NULL, &err);
    CHECK(text != NULL && strstr(text, "fp32") == NULL);
    mw_string_free(text);
    mw__legal_form_deinit(&form);
    mw_graph_destroy(graph);
}

/* ---- ranges ---- */

/* Elements are start + i step, rounded once. */
static void check_range(float start, float end, float step)
{
    mw_error err = {0};
    float got[4096] = {0};
    const float zero = 0.0F;
    const double count = ceil(((double)end - (double)start) / (double)step);
    const size_t n = count > 0 ? (size_t)count : 0;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1));
    mw_output(mw_add(mw_range_1d(graph, MW_F32, (double)start, (double)end, (double)step), x), "y");
    mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 1, &err);
    mw_program_write(program, "x", MW_F32, &zero, 1, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, got, n, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "from %g to %g by %g: %s", (double)start, (double)end,
               (double)step, err.message);
    for (size_t i = 0; err.status == MW_OK && i < n; i++) {
        const float want = mw__fp16_to_float(mw__fp16_from_double((double)(float)(start + (double)i * (double)step)));
        check_note(got[i] == want, __FILE__, __LINE__, "from %g to %g by %g: [%zu] is %g, not %g", (double)start,
                   (double)end, (double)step, i, (double)got[i], (double)want);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_a_range_has_the_same_numbers_on_the_ane(void)
{
    static const float steps[] = {0.1F, 0.3F, 1.0F / 3, 0.7F, 1e-3F, -0.1F, 0.25F, 5e-8F};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int n = 1; n < 100; n += 14)
            for (int from = 0; from < 2; from++) {
                const float start = from ? 0.37F : 0.0F;
                check_range(start, (float)(start + (double)n * (double)steps[i]), steps[i]);
                check_range(start, (float)(start + ((double)n + 0.5) * (double)steps[i]), steps[i]);
            }
    check_range(0.0F, 1.0F, 0.1F);
    check_range(0.0F, 3001.0F, 1.0F); /* an end that fp16 rounds */
}

/* ---- every argument ---- */

/* Nothing is declared any more: a copy infers every result anew. */
static void open_results(mw_graph *graph, mw_error *err)
{
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->op_count; i++)
        for (size_t k = 0; k < body->ops[i]->result_count; k++) {
            mw_tensor *value = body->ops[i]->results[k];
            mw_shape shape = mw_tensor_shape(value);
            for (int d = 0; value->payload == NULL && d < shape.rank; d++)
                shape.dim[d] = MW_DIM_UNKNOWN;
            value->type = mw__type_tensor(graph, mw_tensor_dtype(value), shape, err);
        }
}

static mw_graph *infer(const mw_graph *graph, mw_error *err)
{
    const mw__clone_options how = {.keep_outputs = true};
    return mw__clone_graph(NULL, graph, &how, NULL, err);
}

static mw_shape result_shape(const mw_graph *graph) { return mw_tensor_shape(mw__graph_main(graph)->body->outputs[0]); }

/* With the constant at `slot` times `by`: true if the shape follows from it. */
static bool check_constant(const op_case *c, size_t at, size_t slot, float by)
{
    op_instance instance;
    mw_error err = {0}, other = {0};
    bool decides = false;
    if (!op_instance_init(&instance, c, MW_F32, 7))
        return false;
    mw_output(instance.y, "result");
    const mw_shape before = mw_tensor_shape(instance.y);
    const mw__op *op = mw__graph_main(instance.graph)->body->ops[at];
    const mw_tensor *value = op->slots[slot].count == 1 ? op->slots[slot].operands[0].value : NULL;
    if (value != NULL && mw_tensor_dtype(value) == MW_F32 && value->payload != NULL && value->payload->data != NULL &&
        value->payload->size == sizeof(float)) {
        *(float *)(uintptr_t)value->payload->data *= by;
        open_results(instance.graph, &err);
        mw_graph *moved = infer(instance.graph, &err);
        decides = moved != NULL && mw_graph_check(moved, &err) == MW_OK && mw_shape_count(result_shape(moved)) >= 0 &&
                  !mw_shape_equal(before, result_shape(moved));
        if (decides)
            check_shape(legal_shape(moved, &other), result_shape(moved), c->name, (double)by);
        mw__graph_free(moved);
    }
    op_instance_deinit(&instance);
    return decides;
}

static size_t check_case(const op_case *c)
{
    static const float factors[] = {37.0F / 19, 1.0F / 3, 0.7F, 1.1F, 2.3F};
    op_instance instance;
    size_t found = 0;
    if (!op_instance_init(&instance, c, MW_F32, 7))
        return 0;
    const mw__block *body = mw__graph_main(instance.graph)->body;
    for (size_t at = 0; at < body->op_count; at++)
        for (size_t slot = 0; slot < body->ops[at]->slot_count; slot++)
            for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
                found += check_constant(c, at, slot, factors[i]);
    op_instance_deinit(&instance);
    return found;
}

/* Of the table: each single fp32 constant of every case, moved. */
static void test_every_argument_that_shapes_follow_from_is_exact(void)
{
    size_t found = 0;
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        found += check_case(c);
    check_note(found >= 10, __FILE__, __LINE__, "%zu moved constants changed a shape", found);
}

int main(void)
{
    RUN(test_a_factor_makes_the_same_extents_on_the_ane);
    RUN(test_a_factor_that_fp16_holds_is_fp16);
    RUN(test_a_range_has_the_same_numbers_on_the_ane);
    RUN(test_every_argument_that_shapes_follow_from_is_exact);
    return check_finish();
}
