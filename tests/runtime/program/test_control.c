/* States, loops and branches of programs that were read, through the public calls: what persists between runs, what a
 * trainer makes of it, and that the model of the ANE, where they are flattened, agrees. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

/* ---- states ---- */

/* k = k / 2 + x; y = k * w */
static const char filter[] =
    "program(1.3){func main<ios18>(state<tensor<fp16, [2]>> k, tensor<fp16, [2]> x){"
    "tensor<fp16, [2]> old = read_state(input = k); fp16 half = const()[val = fp16(0x1p-1)];"
    "tensor<fp16, [2]> m = mul(x = old, y = half); tensor<fp16, [2]> n = add(x = m, y = x);"
    "write_state(data = n, input = k); tensor<fp16, [2]> y = read_state(input = k)[name = string(\"y\")];} -> (y);}";

static void check_persists(mw_device device)
{
    mw_error err = {0};
    mw_graph *graph = parse(filter, &err);
    mw_program *program = engine_compile(graph, device, 1, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    float want[2] = {0}, x[2], y[2], k[2];
    CHECK_INT((int)mw_program_port_count(program), 3); /* k, x and y: nothing of how a state is kept */
    for (int run = 0; run < 6; run++) {
        for (int i = 0; i < 2; i++) {
            x[i] = (float)(run + 2 * i);
            want[i] = run == 3 ? 8.0F : want[i];
        }
        if (run == 3)
            mw_program_write(program, "k", MW_F32, want, 2, &err);
        mw_program_write(program, "x", MW_F32, x, 2, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, 2, &err);
        mw_program_read(program, "k", MW_F32, k, 2, &err);
        CHECK_OK(err);
        for (int i = 0; i < 2; i++) {
            want[i] = want[i] / 2.0F + x[i];
            CHECK_NEAR(y[i], want[i], 0.01);
            CHECK_NEAR(k[i], y[i], 0.0);
        }
    }
    mw_program_destroy(program);
}

static void test_a_state_persists_and_can_be_set(void)
{
    check_persists(MW_DEVICE_CPU);
    check_persists(MW_DEVICE_ANE);
}

/* A state that a branch writes, kept beside the weights: loss = sum(s w), s = s + x if g[0] > 0. */
static void test_a_trainer_keeps_a_state(void)
{
    static const char text[] =
        "program(1.3){func main<ios18>(state<tensor<fp32, [2]>> s, tensor<fp32, [2]> x, tensor<fp32, [2]> g){"
        "fp32 zero = const()[val = fp32(0)]; int32 one = const()[val = int32(1)];"
        "tensor<bool, [2]> q = greater(x = g, y = zero);"
        "bool p = slice_by_index(begin = tensor<int32, [1]>([0]), end = tensor<int32, [1]>([1]), squeeze_mask = "
        "tensor<bool, [1]>([true]), x = q);"
        "int32 d = cond(pred = p) { tensor<fp32, [2]> a = read_state(input = s); tensor<fp32, [2]> b = add(x = a, y = "
        "x); write_state(data = b, input = s); } -> (one) { } -> (one);"
        "tensor<fp32, [2]> h = read_state(input = s)[name = string(\"h\")];} -> (h);}";
    mw_error err = {0};
    mw_graph *graph = parse(text, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2), mw_init_constant(1.0F));
    mw_tensor *loss = mw_reduce_sum(mw_mul(w, mw_graph_find(graph, "h")), MW_ALL_AXES, false);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.5F));
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    float s[2] = {0}, weights[2] = {1.0F, 1.0F}, found[2];
    for (int step = 0; step < 5; step++) {
        const float x[2] = {1.0F + (float)step, -0.5F}, g[2] = {step % 2 == 0 ? 1.0F : -1.0F, 0.0F};
        const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x, .count = 2, .scale = 1.0F},
                                  {.name = "g", .dtype = MW_F32, .data = g, .count = 2, .scale = 1.0F}};
        const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 2};
        float loss_at = 0.0F, want = 0.0F;
        for (int i = 0; i < 2; i++) {
            s[i] += step % 2 == 0 ? x[i] : 0.0F;
            want += weights[i] * s[i];
            weights[i] -= 0.5F * s[i]; /* the gradient of w is the state */
        }
        mw_trainer_step(trainer, &batch, &loss_at, &err);
        CHECK_NEAR(loss_at, want, 1e-5);
        mw_trainer_read(trainer, "w", MW_F32, found, 2, &err);
        CHECK(fabsf(found[0] - weights[0]) < 1e-5F && fabsf(found[1] - weights[1]) < 1e-5F);
        mw_trainer_read(trainer, "s", MW_F32, found, 2, &err);
        CHECK(fabsf(found[0] - s[0]) < 1e-5F && fabsf(found[1] - s[1]) < 1e-5F);
        CHECK_OK(err);
    }
    mw_trainer_destroy(trainer);
}

/* ---- the model of the ANE ---- */

/* Three trips over a list, which the ANE has not: they are flattened. */
static const char loop[] =
    "program(1.3){func main<ios18>(tensor<fp16, [3, 4]> x){"
    "int32 zero = const()[val = int32(0)]; int32 one = const()[val = int32(1)]; int32 three = const()[val = int32(3)];"
    "tensor<int32, [3]> order = const()[val = tensor<int32, [3]>([0, 1, 2])];"
    "fp16 scale = const()[val = fp16(0x1p-1)]; tensor<fp16, [4]> start = const()[val = tensor<fp16, [4]>([1, 2, 3, "
    "4])];"
    "list<tensor<fp16, [4]>, 3> e = make_list(dtype = string(\"fp16\"), elem_shape = (int32(4)), init_length = three, "
    "dynamic_length = bool(false)); list<tensor<fp16, [4]>, 3> in = list_scatter(indices = order, ls = e, value = x);"
    "int32 m, list<tensor<fp16, [4]>, 3> out, tensor<fp16, [4]> h = while_loop(loop_vars = (zero, e, start))"
    " (int32 i, list<tensor<fp16, [4]>, 3> l, tensor<fp16, [4]> v) { bool c = less(x = i, y = three); } -> (c)"
    " (int32 i, list<tensor<fp16, [4]>, 3> l, tensor<fp16, [4]> v) {"
    "   tensor<fp16, [4]> r = list_read(index = i, ls = in); tensor<fp16, [4]> a = mul(x = v, y = scale);"
    "   tensor<fp16, [4]> b = add(x = a, y = r);"
    "   list<tensor<fp16, [4]>, 3> l1 = list_write(index = i, ls = l, value = b);"
    "   int32 j = add(x = i, y = one); } -> (j, l1, b);"
    "tensor<fp16, [3, 4]> y = list_gather(indices = order, ls = out)[name = string(\"y\")];} -> (y);}";

static void run_loop(mw_device device, const float x[12], float y[12])
{
    mw_error err = {0};
    mw_graph *graph = parse(loop, &err);
    mw_program *program = engine_compile(graph, device, 1, &err);
    mw_graph_destroy(graph);
    mw_program_write(program, "x", MW_F32, x, 12, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, 12, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
}

static void test_a_loop_over_a_list_runs_on_both_devices(void)
{
    float x[12], want[12], h[4] = {1, 2, 3, 4}, cpu[12] = {0}, ane[12] = {0};
    for (int i = 0; i < 12; i++) {
        x[i] = (float)(i - 5) * 0.25F;
        h[i % 4] = h[i % 4] * 0.5F + x[i];
        want[i] = h[i % 4];
    }
    run_loop(MW_DEVICE_CPU, x, cpu);
    run_loop(MW_DEVICE_ANE, x, ane);
    for (int i = 0; i < 12; i++) {
        CHECK_NEAR(cpu[i], want[i], 0.01);
        CHECK_NEAR(ane[i], cpu[i], 0.0);
    }
}

/* A loop is one step of the plan, which says what is in it, and its time is that of all its turns. */
static void test_a_plan_shows_a_loop_and_its_time(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(loop, &err);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 2, &err);
    mw_graph_destroy(graph);
    mw_program_profile(program, 4, &err);
    for (int run = 0; run < 5; run++)
        mw_program_run(program, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    mw_plan_step step;
    size_t found = 0;
    for (size_t i = 0; plan != NULL && mw_plan_step_at(plan, i, &step); i++) {
        if (strcmp(step.kernel, "while_loop") != 0)
            continue;
        found++;
        CHECK_CONTAINS(step.implementation, "condition of 1 steps, body of ");
        CHECK(step.operation_count == 1 && strcmp(step.operations[0].kind, "while_loop") == 0);
        CHECK(step.time.runs == 4 && step.time.total_ns > 0.0);
    }
    CHECK_INT((int)found, 1);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

static void test_the_ane_says_what_it_does_not_run(void)
{
    static const char open[] =
        "program(1.3){func main<ios18>(tensor<fp16, [2]> x, tensor<int32, []> n){"
        "tensor<fp16, [2]> y = while_loop(loop_vars = (x)) (tensor<fp16, [2]> v) { fp16 s = reduce_sum(axes = "
        "tensor<int32, [1]>([0]), keep_dims = bool(false), x = v); bool c = less(x = s, y = fp16(8)); } -> (c)"
        " (tensor<fp16, [2]> v) { tensor<fp16, [2]> d = add(x = v, y = v); } -> (d);} -> (y);}";
    mw_error err = {0};
    mw_graph *graph = parse(open, &err);
    CHECK(engine_compile(graph, MW_DEVICE_ANE, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "the ANE runs no loops, branches and lists");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_state_persists_and_can_be_set);
    RUN(test_a_trainer_keeps_a_state);
    RUN(test_a_loop_over_a_list_runs_on_both_devices);
    RUN(test_a_plan_shows_a_loop_and_its_time);
    RUN(test_the_ane_says_what_it_does_not_run);
    return check_finish();
}
