/* Whatever the host has told the processor about rounding and subnormals: the library gives the bits that it gives in
 * the default mode, and leaves the host its mode after every call, failed ones included. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/evaluated.h"

#include <fenv.h>
#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- modes of the host ---- */

typedef struct host_mode {
    const char *name;
    int rounding;
    bool flushes; /* subnormals, operands and results */
} host_mode;

static const host_mode default_mode = {"default", FE_TONEAREST, false};
static const host_mode modes[] = {
    {"upward", FE_UPWARD, false},     {"downward", FE_DOWNWARD, false},     {"towards zero", FE_TOWARDZERO, false},
    {"flushing", FE_TONEAREST, true}, {"flushing upward", FE_UPWARD, true},
};

#if defined(__x86_64__)
enum { FLUSH_BITS = 0x8040 };
static bool flushes(void) { return (_mm_getcsr() & FLUSH_BITS) == FLUSH_BITS; }
static void set_flushing(bool on) { _mm_setcsr(on ? _mm_getcsr() | FLUSH_BITS : _mm_getcsr() & ~(unsigned)FLUSH_BITS); }
#elif defined(__aarch64__)
#define FLUSH_BIT ((uint64_t)1 << 24)
static uint64_t get_fpcr(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
}
static bool flushes(void) { return (get_fpcr() & FLUSH_BIT) != 0; }
static void set_flushing(bool on)
{
    const uint64_t value = on ? get_fpcr() | FLUSH_BIT : get_fpcr() & ~FLUSH_BIT;
    __asm__ volatile("msr fpcr, %0" : : "r"(value));
}
#else
static bool flushes(void) { return false; }
static void set_flushing(bool on) { (void)on; }
#endif

static host_mode wanted;

static void enter(host_mode mode)
{
    fesetround(mode.rounding);
    set_flushing(mode.flushes);
    wanted = mode;
}

/* ---- what a run gives ---- */

typedef struct result {
    unsigned char *bytes;
    size_t size;
    const char *lost; /* the first call after which the mode was another */
} result;

static void keep(result *r, const void *data, size_t size)
{
    unsigned char *bytes = data != NULL ? realloc(r->bytes, r->size + size) : NULL;
    if (bytes == NULL)
        return;
    memcpy(bytes + r->size, data, size);
    r->bytes = bytes;
    r->size += size;
}

static void look(result *r, const char *call)
{
    bool same = fegetround() == wanted.rounding;
#if defined(__x86_64__) || defined(__aarch64__)
    same = same && flushes() == wanted.flushes;
#endif
    if (!same && r->lost == NULL)
        r->lost = call;
}

/* The call, and the mode after it. */
#define DO(call)                                                                                                       \
    do {                                                                                                               \
        call;                                                                                                          \
        look(r, #call);                                                                                                \
    } while (0)

static void keep_file(result *r, const char *path)
{
    size_t size = 0;
    unsigned char *data = get_file(path, &size);
    keep(r, data, size);
    free(data);
}

/* ---- what is run ---- */

static const small_data *data;

/* Scalars that no format holds, means of 7, draws of every kind, a subnormal. */
static mw_graph *build(result *r, mw_tensor **out_loss, mw_tensor **out_logits)
{
    mw_tensor *h = NULL, *y = NULL;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(SMALL_N, SMALL_D));
    DO(y = mw_input(graph, "y", MW_I32, MW_SHAPE(SMALL_N)));
    DO(h = mw_mul_scalar(x, 0.1));
    DO(h = mw_add(h, mw_scalar(graph, MW_F32, 1.0 / 3.0)));
    DO(h = mw_add(h, mw_mul(mw_scalar(graph, MW_F32, 0x1.234p-130), mw_scalar(graph, MW_F32, 0x1.1p120))));
    DO(h = mw_dense(h, 7, "fc1"));
    DO(h = mw_batch_norm_layer(h, 0.1f, 1e-5f, "bn"));
    DO(h = mw_leaky_relu(h, 0.01f));
    DO(h = mw_layer_norm_layer(h, 1, 1e-5f, "ln"));
    DO(h = mw_dropout(h, 0.3f, "drop"));
    DO(h = mw_mul(h, mw_noise_normal(graph, MW_F32, MW_SHAPE(7), 1.0f, 0.1f, "noise")));
    mw_tensor *w = NULL;
    DO(w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(3, 7), mw_init_kaiming_normal()));
    DO(h = mw_linear(h, w, NULL));
    DO(*out_logits = mw_mul_scalar(h, 0.7));
    DO(*out_loss = mw_cross_entropy(*out_logits, y));
    return graph;
}

static void train(result *r, mw_device device, mw_optimizer optimizer)
{
    mw_error err = {0};
    mw_tensor *loss = NULL, *logits = NULL;
    mw_graph *graph = build(r, &loss, &logits);
    mw_trainer_options options = mw_trainer_defaults(loss, optimizer);
    options.prediction = logits;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = device;
    options.compile.threads = 1;
    options.average_decay = 0.9f;
    options.precision.loss_scale =
        1.0f; /* a batch of seven rows has small variances: their slopes times 256 leave fp16 */
    mw_trainer *trainer = NULL;
    DO(trainer = mw_trainer_create(&options, &err));
    DO(mw_trainer_save(trainer, scratch("first"), NULL, &err)); /* the initial draws */
    keep_file(r, scratch("first"));
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data->x},
                                 {.name = "y", .dtype = MW_I32, .data = data->y}};
    mw_dataset *dataset = NULL;
    DO(dataset = mw_dataset_create(columns, 2, SMALL_EXAMPLES, false, &err));
    mw_fit_options fit = mw_fit_defaults(dataset, 3);
    fit.schedule.rate = mw_schedule_cosine(0.1);
    fit.progress.quiet = true;
    DO(mw_trainer_fit(trainer, &fit, &err));
    DO(mw_trainer_save(trainer, scratch("last"), NULL, &err));
    keep_file(r, scratch("last"));
    DO(mw_trainer_load(trainer, scratch("last"), NULL, &err));
    double value = 0.0;
    DO(evaluated(trainer, dataset, &value, NULL, &err));
    keep(r, &value, sizeof value);
    float step_loss = 0.0f, out[SMALL_N * 3] = {0};
    small_batch batch;
    small_fill_batch(&batch, data, 3);
    DO(mw_trainer_step(trainer, &batch.batch, &step_loss, &err));
    keep(r, &step_loss, sizeof step_loss);
    DO(mw_trainer_predict(trainer, &batch.batch, MW_F32, out, SMALL_N * 3, &err));
    keep(r, out, sizeof out);
    DO(mw_trainer_read(trainer, "w", MW_F32, out, 21, &err));
    keep(r, out, 21 * sizeof *out);
    char *text = NULL;
    DO(text = mw_graph_print_mil(graph, NULL, &err));
    keep(r, text, text != NULL ? strlen(text) : 0);
    CHECK_OK(err);
    /* what fails leaves the mode too */
    mw_error failed = {0};
    DO(mw_trainer_load(trainer, scratch("nothing"), NULL, &failed));
    DO(mw_trainer_read(trainer, "nothing", MW_F32, out, 1, &failed));
    failed = (mw_error){0};
    DO(mw_trainer_step(trainer, NULL, &step_loss, &failed));
    mw_string_free(text);
    DO(mw_trainer_destroy(trainer));
    DO(mw_dataset_destroy(dataset));
    DO(mw_graph_destroy(graph));
}

/* Text to numbers to text; half and single, decimal and hexadecimal. */
static void parse(result *r)
{
    static const char text[] =
        "program(1.0)\n{\n    func main<ios16>(tensor<fp32, [2]> x) {\n"
        "        tensor<fp32, [2]> a = const()[name = tensor<string, []>(\"a\"), val = tensor<fp32, [2]>([0.1, "
        "3.333333333333333333e-40])];\n"
        "        tensor<fp16, [2]> b = const()[name = tensor<string, []>(\"b\"), val = tensor<fp16, [2]>([0.1, "
        "0x1.8p-24])];\n"
        "        tensor<string, []> t = const()[name = tensor<string, []>(\"t\"), val = tensor<string, "
        "[]>(\"fp32\")];\n"
        "        tensor<fp32, [2]> c = cast(dtype = t, x = b)[name = tensor<string, []>(\"c\")];\n"
        "        tensor<fp32, [2]> d = add(x = a, y = c)[name = tensor<string, []>(\"d\")];\n"
        "        tensor<fp32, [2]> y = mul(x = x, y = d)[name = tensor<string, []>(\"y\")];\n    } -> (y);\n}\n";
    mw_error err = {0};
    mw_graph *graph = NULL;
    DO(graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err));
    char *again = NULL, *shown = NULL;
    DO(again = mw_graph_print_mil(graph, NULL, &err));
    DO(shown = mw_graph_print(graph, &err));
    keep(r, again, again != NULL ? strlen(again) : 0);
    keep(r, shown, shown != NULL ? strlen(shown) : 0);
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = NULL;
    DO(program = mw_program_create(graph, &options, &err)); /* folds a + c */
    const float x[2] = {1.0f, 0x1p60f};
    float y[2] = {0};
    DO(mw_program_write(program, "x", MW_F32, x, 2, &err));
    DO(mw_program_run(program, &err));
    DO(mw_program_read(program, "y", MW_F32, y, 2, &err));
    keep(r, y, sizeof y);
    keep(r, err.message, strlen(err.message));
    mw_string_free(again);
    mw_string_free(shown);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    mw_error failed = {0};
    DO(graph = mw_graph_parse_mil("program(1.0)\n{\n", 15, NULL, NULL, &failed));
    CHECK(graph == NULL);
}

static void check_gradient(result *r)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = NULL, *y = NULL;
    DO(w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(7), mw_init_normal(0.5f, 0.3f)));
    DO(y = mw_reduce_mean(mw_exp(mw_mul_scalar(w, 0.3)), MW_ALL_AXES, false));
    mw_gradcheck_options options = mw_gradcheck_defaults(y, &w, 1);
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_gradcheck_report report = {0};
    DO(mw_gradcheck_run(&options, &report, &err));
    keep(r, &report.analytic, sizeof report.analytic);
    keep(r, &report.numeric, sizeof report.numeric);
    keep(r, err.message, strlen(err.message));
    mw_graph_destroy(graph);
}

static void schedule(result *r)
{
    mw_schedule rates[] = {mw_schedule_cosine(0.1), mw_schedule_linear(0.3), mw_schedule_step(7, 0.9)};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int64_t step = 0; step < 40; step += 3) {
            double factor = 0.0;
            rates[i].warmup_steps = 7;
            DO(factor = mw_schedule_factor(&rates[i], step, 37));
            keep(r, &factor, sizeof factor);
        }
}

static result run_all(host_mode mode)
{
    result made = {0}, *r = &made;
    enter(mode);
    train(r, MW_DEVICE_CPU, mw_adamw(0.01f, 0.1f));
    train(r, MW_DEVICE_ANE, mw_sgd_momentum(0.03f, 0.9f, false));
    train(r, MW_DEVICE_CPU, mw_lion(0.001f, 0.1f));
    parse(r);
    check_gradient(r);
    schedule(r);
    enter(default_mode);
    return made;
}

static void test_the_hosts_mode_changes_no_bit_and_is_left_alone(void)
{
    const small_data made = small_make_data();
    data = &made;
    result expected = run_all(default_mode);
    CHECK(expected.size > 10000 && expected.lost == NULL);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        result got = run_all(modes[i]);
        size_t at = 0;
        while (at < got.size && at < expected.size && got.bytes[at] == expected.bytes[at])
            at++;
        check_note(got.size == expected.size && at == got.size, __FILE__, __LINE__, "%s: byte %zu of %zu differs",
                   modes[i].name, at, expected.size);
        check_note(got.lost == NULL, __FILE__, __LINE__, "%s: another mode after %s", modes[i].name, got.lost);
        free(got.bytes);
    }
    free(expected.bytes);
}

int main(void)
{
    RUN(test_the_hosts_mode_changes_no_bit_and_is_left_alone);
    return check_finish();
}
