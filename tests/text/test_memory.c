/* What a language model takes of memory, by its configuration (docs/text.md, "Memory"): weights, states and activations
 * agree with the plan within a tenth, and the plan with what the process takes. The form of llama2.c's 15M; by night
 * that of 110M. */
#include "support/check.h"
#include "support/child.h"
#include "support/night.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/inspect.h>
#include <millwright/text.h>
#include <stdio.h>

enum { TOKENS = 256, CACHE = 1024 };

static mw_text_config config_of(void)
{
    const bool night = night_has_come();
    mw_text_config c = mw_text_config_defaults("llama");
    c.layers = night ? 12 : 6;
    c.width = night ? 768 : 288;
    c.heads = c.kv_heads = night ? 12 : 6;
    c.head_width = c.width / c.heads;
    c.hidden = night ? 2048 : 768;
    c.words = 32000;
    c.positions = CACHE;
    c.norm_epsilon = 1e-5F;
    c.tied = true;
    return c;
}

/* Bytes of fp32. */
static double weights_of(const mw_text_config *c)
{
    const double width = (double)c->width;
    const double layer = 4.0 * width * width + 3.0 * width * (double)c->hidden + 2.0 * width;
    return 4.0 * (width * (double)c->words + (double)c->layers * layer + width);
}

static double cache_of(const mw_text_config *c)
{
    return 4.0 * 2.0 * (double)(c->layers * c->kv_heads * c->head_width) * CACHE;
}

static void check_tenth(const char *what, double plan, double table)
{
    printf("%s: %.1f MB in the plan, %.1f in the table\n", what, 1e-6 * plan, 1e-6 * table);
    check_note(fabs(plan / table - 1.0) < 0.1, __FILE__, __LINE__, "%s: %.0f and %.0f bytes", what, plan, table);
}

static double whole_of(const mw_plan_totals *t)
{
    return (double)(t->port_bytes + t->constant_bytes + t->intermediate_bytes + t->scratch_bytes);
}

/* Sanitizers and emulators keep memory of their own. */
static void check_process(const char *what, long long before, const mw_plan_totals *totals)
{
    if (child_can_limit_addresses())
        check_tenth(what, (double)(child_peak_bytes() - before), whole_of(totals));
}

/* ---- writing ---- */

static void write_token(void *user)
{
    const mw_text_config c = config_of();
    mw_text_graph_options form = mw_text_graph_defaults();
    mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_error err = {0};
    (void)user;
    form.tokens = 1;
    form.cache = CACHE;
    mw_graph *graph = mw_text_graph(&c, &form, &err);
    mw_program *program = mw_program_create(graph, &compile, &err);
    for (int i = 0; i < 2 * (int)c.layers; i++) {
        char name[32], next[40];
        snprintf(name, sizeof name, "%s.%d", i % 2 == 0 ? "key" : "value", i / 2);
        snprintf(next, sizeof next, "%s.next", name);
        mw_program_alias(program, next, name, &err);
    }
    mw_program_run(program, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    if (CHECK_OK(err)) {
        const mw_plan_totals totals = mw_plan_get_totals(plan);
        check_tenth("weights and cache", (double)totals.port_bytes, weights_of(&c) + cache_of(&c));
        CHECK((double)(totals.intermediate_bytes + totals.scratch_bytes) < 0.1 * (double)totals.port_bytes);
    }
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_a_token_takes_weights_and_the_cache(void) { child_check(write_token, NULL); }

/* ---- training ---- */

static void train_step(mw_trainer *trainer, mw_error *err)
{
    static int32_t tokens[TOKENS], labels[TOKENS];
    for (int i = 0; i < TOKENS; i++)
        tokens[i] = i * 7, labels[i] = i * 7 + 7;
    const mw_feed feeds[] = {{.name = "tokens", .dtype = MW_I32, .data = tokens, .count = TOKENS},
                             {.name = "labels", .dtype = MW_I32, .data = labels, .count = TOKENS}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2};
    mw_trainer_step(trainer, &batch, NULL, err);
}

/* Of each weight AdamW has two means. */
static void train(void *user)
{
    const long long before = child_peak_bytes();
    const mw_text_config c = config_of();
    mw_text_graph_options form = mw_text_graph_defaults();
    mw_error err = {0};
    (void)user;
    form.tokens = TOKENS;
    form.loss = true;
    mw_graph *graph = mw_text_graph(&c, &form, &err);
    mw_trainer_options options = mw_trainer_defaults(mw_graph_find(graph, "loss"), mw_adamw(1e-4F, 0.1F));
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    train_step(trainer, &err);
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    if (CHECK_OK(err)) {
        const mw_plan_totals totals = mw_plan_get_totals(plan);
        check_tenth("weights and states", (double)totals.port_bytes, 3.0 * weights_of(&c));
        check_process("a step: weights, states and activations", before, &totals);
    }
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
}

static void test_a_step_takes_weights_states_and_activations(void) { child_check(train, NULL); }

int main(void)
{
    RUN(test_a_token_takes_weights_and_the_cache);
    RUN(test_a_step_takes_weights_states_and_activations);
    return check_finish();
}
