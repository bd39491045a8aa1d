/* Dilated convolutions of programs of others: their weights can be trained and adapted, whatever is between the
 * constant and the convolution. */
#include "support/check.h"
#include "support/on_engine.h"

#include "base/number/fp16.h"
#include <math.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>

enum { CHANNELS = 4, SIDE = 7, ELEMENTS = CHANNELS * 2 * 3 * 3, X = 4 * SIDE * SIDE, Y = CHANNELS * SIDE * SIDE };

typedef enum between { PLAIN, CAST, TRANSPOSED, SCALED, BETWEENS } between;
static const char *const between_names[BETWEENS] = {"plain", "cast", "transposed", "scaled"};

static mw_tensor *weight_of(mw_graph *g, between how)
{
    static float values[ELEMENTS];
    static uint16_t halves[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++)
        values[i] = (float)(i * 5 % 9) / 8.0F - 0.5F;
    mw__fp16_from_float_n(halves, values, ELEMENTS);
    const mw_shape shape = MW_SHAPE(CHANNELS, 2, 3, 3);
    mw_tensor *w = how == CAST ? mw_constant(g, MW_F16, shape, halves) : mw_constant(g, MW_F32, shape, values);
    mw_name(w, "w");
    return how == CAST         ? mw_cast(w, MW_F32)
           : how == TRANSPOSED ? mw_transpose(w, MW_AXES(0, 1, 3, 2))
           : how == SCALED     ? mw_mul_scalar(w, 0.5)
                               : w;
}

/* Two groups, dilations that differ, a border. */
static mw_graph *make_source(between how, mw_opset opset)
{
    mw_graph_options made = mw_graph_defaults();
    made.opset = opset;
    mw_graph *g = mw_graph_create(&made, NULL);
    mw_conv_options o = mw_conv_defaults();
    o.groups = 2;
    o.dilation[0] = 2;
    o.pad_type = MW_PAD_SAME;
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(1, 4, SIDE, SIDE));
    mw_output(mw_conv(x, weight_of(g, how), NULL, &o), "y");
    return g;
}

static void run_program(const mw_graph *g, float out[Y], mw_error *err)
{
    float x[X];
    for (int i = 0; i < X; i++)
        x[i] = (float)(i * 11 % 17) / 8.0F - 1.0F;
    mw_program *program = engine_compile(g, MW_DEVICE_CPU, 1, err);
    mw_program_write(program, "x", MW_F32, x, X, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, Y, err);
    mw_program_destroy(program);
}

static void check_copy(const char *what, between how, const mw_graph *source, mw_graph *copy, mw_error *err)
{
    static float before[Y], after[Y];
    double apart = 0.0;
    run_program(source, before, err);
    run_program(copy, after, err);
    for (int i = 0; i < Y; i++)
        apart = fmax(apart, fabs((double)before[i] - (double)after[i]));
    check_note(err->status == MW_OK && apart <= 1e-5, __FILE__, __LINE__, "%s, %s: %g apart; %s", what,
               between_names[how], apart, err->message);
}

/* The weight is a parameter, and its gradient is that of differences. */
static void check_trainable(between how, const mw_graph *source)
{
    static const char *const all[] = {"*"}, *const whole[] = {"w"}; /* what is multiplied is taken by its name */
    const mw_tune_options options = mw_tune_defaults(how == SCALED ? whole : all, 1);
    mw_error err = {0};
    float x[X];
    for (int i = 0; i < X; i++)
        x[i] = (float)(i * 7 % 13) / 8.0F - 0.5F;
    mw_graph *copy = mw_graph_trainable(source, &options, &err);
    if (copy == NULL) {
        check_note(false, __FILE__, __LINE__, "%s: %s", between_names[how], err.message);
        return;
    }
    check_copy("trainable", how, source, copy, &err);
    mw_tensor *w = mw_graph_find(copy, "w");
    mw_gradcheck_options check = mw_gradcheck_defaults(mw_square(mw_graph_output_at(copy, 0)), &w, 1);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = X, .scale = 1.0F};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    check.batch = &batch;
    check.elements = 8;
    check.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_gradcheck_run(&check, NULL, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", between_names[how], err.message);
    mw_graph_destroy(copy);
}

static void check_adapters(between how, const mw_graph *source)
{
    static const char *const all[] = {"*"};
    const mw_lora_options options = mw_lora_defaults(all, 1);
    mw_error err = {0};
    mw_graph *copy = mw_graph_lora(source, &options, &err);
    if (copy != NULL)
        check_copy("adapters", how, source, copy, &err);
    else
        check_note(false, __FILE__, __LINE__, "adapters, %s: %s", between_names[how], err.message);
    mw_graph_destroy(copy);
}

static void test_weights_of_dilated_convolutions_are_trained_and_adapted(void)
{
    static const mw_opset opsets[] = {MW_IOS15, MW_IOS17, MW_IOS18};
    for (size_t i = 0; i < sizeof opsets / sizeof opsets[0]; i++)
        for (int how = 0; how < BETWEENS; how++) {
            if (opsets[i] == MW_IOS15 && how != PLAIN) /* there a computed weight was spread when it was made */
                continue;
            mw_graph *source = make_source((between)how, opsets[i]);
            check_trainable((between)how, source);
            if (how == PLAIN) /* adapters want the weight as the layer has it */
                check_adapters((between)how, source);
            mw_graph_destroy(source);
        }
}

int main(void)
{
    RUN(test_weights_of_dilated_convolutions_are_trained_and_adapted);
    return check_finish();
}
