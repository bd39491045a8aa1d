/* Language models that are trained on the model of the ANE's arithmetic: the loss follows that of fp32, a step that is
 * cut into segments has the bits of one that is not, and a step of twelve layers stays within what a process holds and
 * what chips run. By night the network is larger. */
#include "base/number/random.h"
#include "support/check.h"
#include "support/night.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/inspect.h>
#include <millwright/text.h>

enum { BATCH = 4, STEPS = 200, WORDS = 96 };

/* Of the form of the stories of llama2.c. */
static mw_text_config config_of(int64_t layers, int64_t width, int64_t heads)
{
    mw_text_config c = mw_text_config_defaults("llama");
    c.layers = layers;
    c.width = width;
    c.heads = c.kv_heads = heads;
    c.head_width = width / heads;
    c.hidden = width * 8 / 3 / 8 * 8;
    c.words = WORDS;
    c.positions = 128;
    c.norm_epsilon = 1e-5F;
    c.tied = true;
    return c;
}

typedef struct place {
    mw_device device;
    const char *profile;
    mw_chip chip;
    int segments;
} place;

static mw_trainer *make_trainer(const mw_text_config *c, int64_t tokens, place on, mw_error *err)
{
    mw_text_graph_options form = mw_text_graph_defaults();
    form.batch = BATCH;
    form.tokens = tokens;
    form.loss = true;
    mw_graph *graph = mw_text_graph(c, &form, err);
    mw_optimizer adam = mw_adam(1e-3F); /* weights of two terms: those of one are 3 % apart after 50 steps */
    mw_optimizer_set(&adam, MW_OPTIMIZER_COMPENSATED, on.device == MW_DEVICE_ANE ? 1 : 0);
    mw_trainer_options options = mw_trainer_defaults(mw_graph_output_at(graph, 0), adam);
    options.compile = engine_options(on.device, 1);
    options.compile.profile = on.profile;
    options.compile.chip = on.chip;
    options.compile.seed = 7;
    options.memory.segments = on.segments;
    mw_trainer *trainer = graph != NULL ? mw_trainer_create(&options, err) : NULL;
    mw_graph_destroy(graph);
    return trainer;
}

/* A text that can be learned: each token mostly follows from the one before. */
static void draw_text(int64_t step, int64_t tokens, int32_t *ids, int32_t *labels)
{
    mw__random random = {.seed = 11, .stream = (uint64_t)step};
    for (int64_t b = 0; b < BATCH; b++) {
        int32_t last = (int32_t)mw__random_below(&random, WORDS);
        for (int64_t i = 0; i < tokens; i++) {
            const uint32_t drawn = mw__random_u32(&random);
            const int32_t next = drawn % 4 == 0 ? (int32_t)(drawn / 4 % WORDS) : (last * 7 + 3) % WORDS;
            ids[b * tokens + i] = last;
            labels[b * tokens + i] = next;
            last = next;
        }
    }
}

static void train(mw_trainer *trainer, int64_t tokens, int steps, float *losses, mw_error *err)
{
    int32_t ids[BATCH * 128], labels[BATCH * 128];
    const size_t count = (size_t)(BATCH * tokens);
    const mw_feed feeds[] = {{.name = "tokens", .dtype = MW_I32, .data = ids, .count = count},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = count}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    for (int i = 0; i < steps && err->status == MW_OK; i++) {
        draw_text(i, tokens, ids, labels);
        mw_trainer_step(trainer, &batch, &losses[i], err);
    }
    CHECK_OK(*err);
}

/* ---- the loss ---- */

static void follow(const mw_text_config *c, int64_t tokens, const char *profile, const float *wanted)
{
    float losses[STEPS] = {0};
    double worst = 0.0;
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(c, tokens, (place){MW_DEVICE_ANE, profile, MW_CHIP_AUTO, 0}, &err);
    train(trainer, tokens, STEPS, losses, &err);
    for (int i = 0; i < STEPS; i++)
        worst = fmax(worst, fabs((double)losses[i] - (double)wanted[i]) / (double)wanted[i]);
    printf("%s: loss %.4f after %.4f, %.2f %% apart at most\n", profile, (double)losses[STEPS - 1], (double)losses[0],
           100.0 * worst);
    check_note(worst < 0.01, __FILE__, __LINE__, "%s: the loss is %.2f %% from that of fp32", profile, 100.0 * worst);
    mw_trainer_destroy(trainer);
}

static void test_the_loss_follows_fp32(void)
{
    static const char *const profiles[] = {"h13", "h16", "h17"};
    const mw_text_config c = night_has_come() ? config_of(6, 288, 6) : config_of(3, 48, 4);
    const int64_t tokens = night_has_come() ? 128 : 24;
    float wanted[STEPS] = {0};
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(&c, tokens, (place){MW_DEVICE_CPU, NULL, MW_CHIP_AUTO, 0}, &err);
    train(trainer, tokens, STEPS, wanted, &err);
    mw_trainer_destroy(trainer);
    CHECK(wanted[STEPS - 1] < 0.75F * wanted[0]); /* it does learn */
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        follow(&c, tokens, profiles[i], wanted);
}

/* ---- segments ---- */

/* The words' rows after four steps. */
static void train_in_segments(const mw_text_config *c, int64_t tokens, int segments, float *out, mw_error *err)
{
    float losses[4];
    mw_trainer *trainer = make_trainer(c, tokens, (place){MW_DEVICE_ANE, "h17", MW_CHIP_AUTO, segments}, err);
    train(trainer, tokens, 4, losses, err);
    mw_trainer_read(trainer, "model.embed_tokens.weight", MW_F32, out, (size_t)(c->words * c->width), err);
    CHECK(segments == 1 || mw_trainer_get_info(trainer).parts.calls > 1);
    mw_trainer_destroy(trainer);
}

/* The last one has the layers of the models that are in use; by night also their width, or half of it. */
static void test_segments_have_the_bits_of_the_whole(void)
{
    enum { WIDEST = 384 };
    static const struct {
        int64_t layers, width, heads, tokens;
        int segments;
        bool night;
    } cases[] = {{4, 32, 4, 16, 2, false},
                 {4, 32, 4, 16, 5, false},
                 {12, 32, 4, 16, MW_SEGMENTS_AUTO, false},
                 {12, WIDEST, 6, 64, MW_SEGMENTS_AUTO, true}};
    static float whole[WORDS * WIDEST], parts[WORDS * WIDEST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].night && !night_has_come())
            continue;
        const mw_text_config c = config_of(cases[i].layers, cases[i].width, cases[i].heads);
        mw_error err = {0};
        train_in_segments(&c, cases[i].tokens, 1, whole, &err);
        train_in_segments(&c, cases[i].tokens, cases[i].segments, parts, &err);
        CHECK_OK(err);
        check_note(memcmp(parts, whole, (size_t)(c.words * c.width) * sizeof *whole) == 0, __FILE__, __LINE__,
                   "%lld layers, %d segments", (long long)c.layers, cases[i].segments);
    }
}

/* ---- twelve layers ---- */

/* What was compiled, held to the rules of the chip. */
static void check_legal(const mw_trainer *trainer, mw_chip chip)
{
    mw_error err = {0};
    const char *mil = mw_program_get_info(mw_trainer_program(trainer)).mil;
    mw_graph *step = mw_graph_parse_mil(mil, strlen(mil), NULL, NULL, &err);
    mw_chip_report *report = step != NULL ? mw_chip_report_create(step, chip, NULL, &err) : NULL;
    CHECK_OK(err);
    if (report != NULL && !mw_chip_report_get_info(report).passes) {
        char *text = mw_chip_report_print(report, &err);
        check_note(false, __FILE__, __LINE__, "%s: %.600s", mw_chip_name(chip), text);
        mw_string_free(text);
    }
    mw_chip_report_destroy(report);
    mw_graph_destroy(step);
}

static void test_a_step_of_twelve_layers_runs_on_every_chip(void)
{
    static const mw_chip chips[] = {MW_CHIP_H13, MW_CHIP_H14, MW_CHIP_H15, MW_CHIP_H16, MW_CHIP_H17, MW_CHIP_H18G};
    const mw_text_config c = night_has_come() ? config_of(12, 768, 12) : config_of(12, 32, 4);
    const int64_t tokens = night_has_come() ? 128 : 16;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        mw_error err = {0};
        mw_trainer *trainer = make_trainer(&c, tokens, (place){MW_DEVICE_ANE, NULL, chips[i], MW_SEGMENTS_AUTO}, &err);
        const mw_trainer_parts parts = mw_trainer_get_info(trainer).parts;
        if (CHECK_OK(err)) {
            printf("%s: %zu operations in %zu calls, %zu held of %zu\n", mw_chip_name(chips[i]), parts.operations,
                   parts.calls, parts.held, parts.held_max);
            CHECK(parts.held > 0 && parts.held <= 128);
            check_legal(trainer, chips[i]);
        }
        mw_trainer_destroy(trainer);
    }
}

int main(void)
{
    RUN(test_the_loss_follows_fp32);
    RUN(test_segments_have_the_bits_of_the_whole);
    RUN(test_a_step_of_twelve_layers_runs_on_every_chip);
    return check_finish();
}
