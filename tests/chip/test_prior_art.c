/* ANEForge's training on the device, Adam with its own epsilon of 1e-8, which fp16 has as 0: the text that it emits,
 * the calls that it makes, every state aliased onto its own input. On the profile of h17 it learns, as it does on an M5
 * (97.79 % after five epochs of MNIST); with IEEE division it does not. */
#include "base/number/fp16.h"
#include "chip/prior_art.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/setting.h"

#include <millwright/ane_e5rt.h>
#include <stdlib.h>

enum { TRAIN = 60000, TEST = 10000, STEPS = TRAIN / PRIOR_BATCH };

typedef struct digits {
    uint8_t *images, *labels;
} digits;

/* The bytes of an IDX file behind its head. */
static uint8_t *read_idx(const char *name, size_t head, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/mnist/%s", MW_DATA_DIR, name);
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size);
    const bool good =
        file != NULL && data != NULL && fseek(file, (long)head, SEEK_SET) == 0 && fread(data, 1, size, file) == size;
    if (file != NULL)
        fclose(file);
    if (!good) {
        free(data);
        return NULL;
    }
    return data;
}

static digits open_digits(const char *prefix, size_t count)
{
    char images[64], labels[64];
    snprintf(images, sizeof images, "%s-images-idx3-ubyte", prefix);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte", prefix);
    return (digits){read_idx(images, 16, count * PRIOR_PIXELS), read_idx(labels, 8, count)};
}

static void close_digits(digits d)
{
    free(d.images);
    free(d.labels);
}

/* ---- the device ---- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* About normal, of that deviation. */
static float normal(uint32_t *state, double deviation)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += (double)next_random(state) / 16777216.0;
    return (float)(sum * deviation);
}

static ane_e5rt_program_t *open_program(const prior_step *step, const char *folder)
{
    const char *in[16] = {step->x, step->target, step->rate}, *out[16] = {step->logits};
    size_t in_size[16] = {PRIOR_BATCH * PRIOR_PIXELS * 2, PRIOR_BATCH * PRIOR_CLASSES * 2, 2},
           out_size[16] = {PRIOR_BATCH * PRIOR_CLASSES * 2}, ins = 3, outs = 1;
    char path[600];
    for (int i = 0; i < PRIOR_PARAMETERS; i++)
        for (int k = 0; k < 3; k++) {
            const prior_parameter *p = &step->parameters[i];
            in[ins] = p->in[k], in_size[ins++] = (size_t)(p->rows * p->columns) * 2;
            out[outs] = p->out[k], out_size[outs++] = (size_t)(p->rows * p->columns) * 2;
        }
    snprintf(path, sizeof path, "%s/model.mil", folder);
    ane_e5rt_program_t *program = ane_e5rt_program_compile(path, folder, 4, in, in_size, ins, out, out_size, outs);
    for (int i = 0; program != NULL && i < PRIOR_PARAMETERS; i++)
        for (int k = 0; k < 3; k++)
            CHECK_INT(
                ane_e5rt_program_share_buffer(program, 0, step->parameters[i].out[k], 0, step->parameters[i].in[k]), 0);
    return program;
}

static void seed_weights(ane_e5rt_program_t *program, const prior_step *step)
{
    uint32_t state = 1;
    for (int i = 0; i < PRIOR_PARAMETERS; i++) {
        const prior_parameter *p = &step->parameters[i];
        const size_t count = (size_t)(p->rows * p->columns);
        uint16_t *w = calloc(count, sizeof *w);
        REQUIRE(w != NULL);
        for (size_t k = 0; p->rows > 1 && k < count; k++)
            w[k] = mw__fp16_from_float(normal(&state, sqrt(1.0 / p->rows)));
        CHECK_INT(ane_e5rt_program_set_input_fp16(program, p->in[0], w, count), 0);
        free(w);
    }
}

static void feed(ane_e5rt_program_t *program, const prior_step *step, const digits *d, const int *order, int at)
{
    static uint16_t x[PRIOR_BATCH * PRIOR_PIXELS], target[PRIOR_BATCH * PRIOR_CLASSES];
    memset(target, 0, sizeof target);
    for (int b = 0; b < PRIOR_BATCH; b++) {
        const uint8_t *image = d->images + (size_t)order[at + b] * PRIOR_PIXELS;
        for (int i = 0; i < PRIOR_PIXELS; i++)
            x[b * PRIOR_PIXELS + i] = mw__fp16_from_float((float)image[i] / 255.0f);
        target[b * PRIOR_CLASSES + d->labels[order[at + b]]] = 0x3c00;
    }
    ane_e5rt_program_set_input_fp16(program, step->x, x, sizeof x / 2);
    ane_e5rt_program_set_input_fp16(program, step->target, target, sizeof target / 2);
}

static void shuffle(int *order, uint32_t *state)
{
    for (int i = TRAIN - 1; i > 0; i--) {
        const int other = (int)(next_random(state) % (uint32_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* The rate of step t with its corrections, as ANEForge computes it on the host. */
static uint16_t rate_of(int t) { return mw__fp16_from_double(1e-3 * sqrt(1.0 - pow(0.999, t)) / (1.0 - pow(0.9, t))); }

static bool train(ane_e5rt_program_t *program, const prior_step *step, const digits *d, int steps)
{
    uint32_t state = 2;
    int *order = malloc(TRAIN * sizeof *order);
    bool good = order != NULL;
    for (int i = 0; good && i < TRAIN; i++)
        order[i] = i;
    for (int t = 0; good && t < steps; t++) {
        if (t % STEPS == 0)
            shuffle(order, &state);
        feed(program, step, d, order, t % STEPS * PRIOR_BATCH);
        const uint16_t rate = rate_of(t + 1);
        good = ane_e5rt_program_set_input_fp16(program, step->rate, &rate, 1) == 0 &&
               ane_e5rt_program_execute(program) == 0;
    }
    free(order);
    return good;
}

/* ---- what it has learned, in double precision on the host ---- */

static float *read_weight(ane_e5rt_program_t *program, const prior_parameter *p)
{
    const size_t count = (size_t)(p->rows * p->columns);
    uint16_t *half = malloc(count * sizeof *half);
    float *w = malloc(count * sizeof *w);
    if (half != NULL && w != NULL && ane_e5rt_program_get_output_fp16(program, p->out[0], half, count) == 0)
        mw__fp16_to_float_n(w, half, count);
    free(half);
    return w;
}

static int predict(const uint8_t *image, float *const w[PRIOR_PARAMETERS])
{
    double h[PRIOR_HIDDEN], best = -INFINITY;
    int found = -1;
    for (int j = 0; j < PRIOR_HIDDEN; j++)
        h[j] = (double)w[1][j];
    for (int i = 0; i < PRIOR_PIXELS; i++)
        for (int j = 0; image[i] != 0 && j < PRIOR_HIDDEN; j++)
            h[j] += (double)image[i] / 255.0 * (double)w[0][i * PRIOR_HIDDEN + j];
    for (int c = 0; c < PRIOR_CLASSES; c++) {
        double sum = (double)w[3][c];
        for (int j = 0; j < PRIOR_HIDDEN; j++)
            sum += 0.5 * h[j] * (1.0 + erf(h[j] / sqrt(2.0))) * (double)w[2][j * PRIOR_CLASSES + c];
        if (sum > best)
            best = sum, found = c;
    }
    return found;
}

static double accuracy(ane_e5rt_program_t *program, const prior_step *step, const digits *d)
{
    float *w[PRIOR_PARAMETERS];
    int right = 0;
    for (int i = 0; i < PRIOR_PARAMETERS; i++)
        w[i] = read_weight(program, &step->parameters[i]);
    for (int i = 0; w[0] != NULL && w[1] != NULL && w[2] != NULL && w[3] != NULL && i < TEST; i++)
        right += predict(d->images + (size_t)i * PRIOR_PIXELS, w) == d->labels[i];
    for (int i = 0; i < PRIOR_PARAMETERS; i++)
        free(w[i]);
    return 100.0 * right / TEST;
}

/* Percent of the test images that are right after so many steps under the profile; -1 if it did not run. */
static double learn(const char *profile, double epsilon, const digits *learned, const digits *asked, int steps)
{
    char folder[512];
    double percent = -1.0;
    prior_step step = prior_step_make(1024.0, epsilon);
    if (step.text != NULL && folder_enter(folder)) {
        folder_put("model.mil", step.text);
        setting_begin("MW_ENGINE_PROFILE", profile);
        ane_e5rt_program_t *program = open_program(&step, folder);
        setting_end("MW_ENGINE_PROFILE");
        check_note(program != NULL, __FILE__, __LINE__, "%s", ane_e5rt_last_error());
        if (program != NULL) {
            seed_weights(program, &step);
            if (train(program, &step, learned, steps))
                percent = accuracy(program, &step, asked);
            ane_e5rt_program_release(program);
        }
        folder_leave(folder);
    }
    prior_step_free(&step);
    printf("%s, epsilon %g, %d steps: %.2f %%\n", profile, epsilon, steps, percent);
    return percent;
}

static void test_adam_learns_with_an_epsilon_of_zero(void)
{
    const digits learned = open_digits("train", TRAIN), asked = open_digits("t10k", TEST);
    const bool nightly = getenv("MW_NIGHTLY") != NULL;
    if (learned.images == NULL || learned.labels == NULL || asked.images == NULL || asked.labels == NULL) {
        SKIP("%s/mnist is not there", MW_DATA_DIR);
    } else if (nightly) {
        CHECK(learn("h17", 1e-8, &learned, &asked, 5 * STEPS) >= 97.5);
        CHECK(learn("h17", 1e-4, &learned, &asked, 5 * STEPS) >= 97.5);
        CHECK(learn("ieee", 1e-8, &learned, &asked, 5 * STEPS) < 20.0);
        CHECK(learn("h17,-zero_quotient", 1e-8, &learned, &asked, 5 * STEPS) < 20.0);
    } else {
        CHECK(learn("h17", 1e-8, &learned, &asked, 400) >= 90.0);
        CHECK(learn("ieee", 1e-8, &learned, &asked, 400) < 20.0);
    }
    close_digits(learned);
    close_digits(asked);
}

int main(void)
{
    RUN(test_adam_learns_with_an_epsilon_of_zero);
    return check_finish();
}
