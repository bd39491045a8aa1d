/* Rules of optimizers that are wrong or mean ill: each is refused with a sentence that names the rule and the
 * parameter, and nothing is left behind. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <string.h>

/* What the functions of the rule under test do. */
typedef struct act {
    const char *what;
    mw_tensor *foreign;
    mw_graph *graph; /* of the user */
    mw_trainer *trainer;
    int calls;
} act;

static bool is(const act *a, const char *what) { return strcmp(a->what, what) == 0; }

/* ---- functions of a rule ---- */

static mw_status states(void *user, const mw_update_parameter *of, mw_update_state *out, size_t *out_count,
                        mw_error *err)
{
    static char control[] = "a\nb", longest[80];
    const act *a = user;
    memset(longest, 'n', sizeof longest - 1);
    out[0].name = "m";
    *out_count = 1;
    if (is(a, "state without name"))
        out[0].name = NULL;
    if (is(a, "state of a control character"))
        out[0].name = control;
    if (is(a, "state of a long name"))
        out[0].name = longest;
    if (is(a, "state with a hash"))
        out[0].name = "a#b";
    if (is(a, "state called sum"))
        out[0].name = "sum";
    if (is(a, "two states of one name"))
        out[1].name = "m", *out_count = 2;
    if (is(a, "many states"))
        *out_count = 1000;
    if (is(a, "state of unknown shape"))
        out[0].shape = MW_SHAPE(MW_DIM_UNKNOWN);
    if (is(a, "state of bad rank"))
        out[0].shape.rank = 99;
    if (is(a, "state from nan"))
        out[0].initial = NAN;
    if (is(a, "states refuse")) {
        snprintf(err->message, sizeof err->message, "no %s here", of->name);
        return MW_ERROR_UNSUPPORTED;
    }
    return MW_OK;
}

static mw_status update(const mw_update_call *c, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    act *a = c->user;
    a->calls++;
    *out_p = mw_sub(c->p, mw_mul(c->g, mw_update_call_scalar(c, "learning_rate")));
    out_states[0] = c->states[0];
    if (is(a, "no p"))
        *out_p = NULL;
    if (is(a, "no state"))
        out_states[0] = NULL;
    if (is(a, "p of another shape"))
        *out_p = mw_reduce_sum(c->p, MW_ALL_AXES, false);
    if (is(a, "state of another shape"))
        out_states[0] = mw_reshape(c->p, MW_SHAPE(3, 2));
    if (is(a, "p of another type"))
        *out_p = mw_cast(c->p, MW_F16);
    if (is(a, "p of another graph"))
        *out_p = a->foreign;
    if (is(a, "mixes graphs"))
        *out_p = mw_add(c->p, a->foreign);
    if (is(a, "unknown scalar"))
        *out_p = mw_mul(c->p, mw_update_call_scalar(c, "momentum"));
    if (is(a, "makes an input"))
        *out_p = mw_add(c->p, mw_input(c->graph, "more", MW_F32, MW_SHAPE(2, 3)));
    if (is(a, "makes a parameter"))
        *out_p = mw_add(c->p, mw_parameter(c->graph, "more", MW_F32, MW_SHAPE(2, 3), mw_init_zeros()));
    if (is(a, "makes an output"))
        mw_output(*out_p, "mine");
    if (is(a, "random"))
        *out_p = mw_add(c->p, mw_random_normal(c->graph, MW_F32, MW_SHAPE(2, 3), 0.0f, 1.0f, -1));
    if (is(a, "says why")) {
        snprintf(err->message, sizeof err->message, "I do not like %s", c->parameter->name);
        return MW_ERROR_NUMERIC;
    }
    if (is(a, "says nothing"))
        return MW_ERROR_UNSUPPORTED;
    if (is(a, "destroys"))
        mw_graph_destroy(c->graph);
    return MW_OK;
}

static double number(void *user, const mw_update_moment *m)
{
    act *a = user;
    mw_error err = {0};
    if (is(a, "number nan") && m->step == 2)
        return NAN;
    if (is(a, "number tiny"))
        return 1e-300;
    if (is(a, "uses the trainer") && a->trainer != NULL) {
        mw_trainer_set_learning_rate(a->trainer, 1.0f, &err);
        a->calls = err.status == MW_ERROR_STATE ? -1 : -2;
    }
    return m->learning_rate;
}

/* ---- trying them ---- */

static mw_trainer *try_rule(act *a, const mw_optimizer *optimizer, const mw_parameter_group *group, mw_error *err)
{
    mw_graph *other = mw_graph_create(NULL, NULL), *g = mw_graph_create(NULL, NULL);
    a->foreign = mw_parameter(other, "w", MW_F32, MW_SHAPE(2, 3), mw_init_zeros());
    a->graph = g;
    mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(2, 3), mw_init_constant(1.0f));
    mw_trainer_options o = mw_trainer_defaults(mw_reduce_sum(mw_square(w), MW_ALL_AXES, false), *optimizer);
    o.compile = engine_options(MW_DEVICE_CPU, 1);
    o.groups = group;
    o.group_count = group != NULL;
    mw_trainer *trainer = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    mw_graph_destroy(other);
    return trainer;
}

static mw_optimizer_rule rule_of(act *a)
{
    mw_optimizer_rule rule = mw_optimizer_rule_defaults("mine", update);
    rule.states = states;
    rule.user = a;
    return rule;
}

static void refuse(const char *what, mw_status status, const char *part)
{
    mw_error err = {0};
    act a = {.what = what};
    const mw_optimizer_rule rule = rule_of(&a);
    const mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);
    mw_trainer *trainer = try_rule(&a, &optimizer, NULL, &err);
    check_note(trainer == NULL, __FILE__, __LINE__, "%s: accepted", what);
    check_note(err.status == status && strstr(err.message, part) != NULL && strstr(err.message, "mine") != NULL,
               __FILE__, __LINE__, "%s: %d \"%s\"", what, (int)err.status, err.message);
    CHECK_STR(err.tensor, "w");
    mw_trainer_destroy(trainer);
}

static void test_states_that_are_wrong_are_refused(void)
{
    refuse("state without name", MW_ERROR_ARGUMENT, "state 0 is missing");
    refuse("state of a control character", MW_ERROR_ARGUMENT, "state 0 ");
    refuse("state of a long name", MW_ERROR_ARGUMENT, "state 0 has more than 63 bytes");
    refuse("state with a hash", MW_ERROR_ARGUMENT, "state 0 has a #");
    refuse("state called sum", MW_ERROR_ARGUMENT, "has a name that trainers use themselves");
    refuse("two states of one name", MW_ERROR_ARGUMENT, "state 1 has the name of an earlier one");
    refuse("many states", MW_ERROR_ARGUMENT, "state 1000 is one too many");
    refuse("state of unknown shape", MW_ERROR_ARGUMENT, "state 0 has no known shape");
    refuse("state of bad rank", MW_ERROR_ARGUMENT, "state 0 has no known shape");
    refuse("state from nan", MW_ERROR_ARGUMENT, "state 0 starts at what");
    refuse("states refuse", MW_ERROR_UNSUPPORTED, "parameter \"w\": no w here");
}

static void test_updates_that_are_wrong_are_refused(void)
{
    refuse("no p", MW_ERROR_ARGUMENT, "the update gave nothing for the new \"p\"");
    refuse("no state", MW_ERROR_ARGUMENT, "the update gave nothing for the new \"m\"");
    refuse("p of another shape", MW_ERROR_SHAPE, "gave fp32 [] for the new \"p\", which is fp32 [2, 3]");
    refuse("state of another shape", MW_ERROR_SHAPE, "gave fp32 [3, 2] for the new \"m\", which is fp32 [2, 3]");
    refuse("p of another type", MW_ERROR_DTYPE, "gave fp16 [2, 3] for the new \"p\", which is fp32 [2, 3]");
    refuse("p of another graph", MW_ERROR_ARGUMENT, "a tensor of another graph (append to call->graph)");
    refuse("mixes graphs", MW_ERROR_ARGUMENT, "parameter \"w\"");
    refuse("unknown scalar", MW_ERROR_ARGUMENT, "the rule has no scalar \"momentum\"");
    refuse("makes an input", MW_ERROR_ARGUMENT, "made an input, a parameter or a state");
    refuse("makes a parameter", MW_ERROR_ARGUMENT, "made an input, a parameter or a state");
    refuse("makes an output", MW_ERROR_ARGUMENT, "the update made an output");
    refuse("says why", MW_ERROR_NUMERIC, "I do not like w");
    refuse("says nothing", MW_ERROR_UNSUPPORTED, "parameter \"w\": ");
}

static void test_random_numbers_of_an_update_are_refused(void)
{
    mw_error err = {0};
    act a = {.what = "random"};
    const mw_optimizer_rule rule = rule_of(&a);
    const mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);
    CHECK(try_rule(&a, &optimizer, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "or of an optimizer");
}

static void test_an_update_cannot_destroy_the_graph_of_the_step(void)
{
    mw_error err = {0};
    act a = {.what = "destroys"};
    const mw_optimizer_rule rule = rule_of(&a);
    const mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);
    mw_trainer *trainer = try_rule(&a, &optimizer, NULL, &err);
    CHECK_OK(err);
    mw_trainer_step(trainer, &(mw_batch){0}, NULL, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* ---- numbers ---- */

static void test_numbers_are_checked_at_each_step(void)
{
    static const mw_update_scalar fed = {.name = "learning_rate", .value = number};
    mw_error err = {0};
    act a = {.what = "number nan"};
    mw_optimizer_rule rule = rule_of(&a);
    rule.scalars = &fed;
    rule.scalar_count = 1;
    mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);
    mw_trainer *trainer = try_rule(&a, &optimizer, NULL, &err);
    float w[6], now[6];
    mw_trainer_step(trainer, &(mw_batch){0}, NULL, &err);
    mw_trainer_read(trainer, "w", MW_F32, w, 6, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_step(trainer, &(mw_batch){0}, NULL, &err), MW_ERROR_NUMERIC);
    CHECK_CONTAINS(err.message, "learning_rate is nan at step 2");
    err = (mw_error){0};
    mw_trainer_read(trainer, "w", MW_F32, now, 6, &err);
    CHECK(memcmp(w, now, sizeof w) == 0);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 1);
    mw_trainer_destroy(trainer);
    a.what = "number tiny";
    CHECK(try_rule(&a, &optimizer, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "learning_rate is 1e-300");
}

static void test_a_number_may_not_use_the_trainer(void)
{
    static const mw_update_scalar fed = {.name = "learning_rate", .value = number};
    mw_error err = {0};
    act a = {.what = "uses the trainer"};
    mw_optimizer_rule rule = rule_of(&a);
    rule.scalars = &fed;
    rule.scalar_count = 1;
    const mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);
    a.trainer = try_rule(&a, &optimizer, NULL, &err);
    mw_trainer_step(a.trainer, &(mw_batch){0}, NULL, &err);
    CHECK_OK(err);
    CHECK_INT(a.calls, -1);
    CHECK_NEAR(mw_trainer_get_info(a.trainer).learning_rate, 0.1, 1e-6);
    mw_trainer_destroy(a.trainer);
}

/* ---- the rule itself ---- */

static void refuse_rule(mw_optimizer optimizer, const char *part)
{
    mw_error err = {0};
    act a = {.what = ""};
    CHECK(try_rule(&a, &optimizer, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
}

#define WRONG(change, part)                                                                                            \
    do {                                                                                                               \
        act a = {.what = ""};                                                                                          \
        mw_optimizer_rule rule = rule_of(&a);                                                                          \
        mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);                                                     \
        change;                                                                                                        \
        refuse_rule(optimizer, part);                                                                                  \
    } while (0)

static void test_rules_that_are_wrong_are_refused(void)
{
    static const mw_update_scalar twice[] = {{.name = "a"}, {.name = "a"}}, dotted[] = {{.name = "a.b"}},
                                  nameless[] = {{.name = NULL}};
    static char settings[300];
    memset(settings, 's', sizeof settings - 1);
    WRONG(optimizer = mw_optimizer_custom(0.1f, NULL), "got no rule");
    WRONG(rule.struct_size = 3, "not made by mw_optimizer_rule_defaults");
    WRONG(rule.name = NULL, "the name of the rule is missing");
    WRONG(rule.name = "", "the name of the rule ");
    WRONG(rule.name = "a\tb", "the name of the rule ");
    WRONG(rule.update = NULL, "there is no update");
    WRONG(rule.settings = "a\nb", "its settings ");
    WRONG(rule.settings = settings, "its settings have more than 255 bytes");
    WRONG(rule.scalar_count = 1, "scalars is NULL, scalar_count 1");
    WRONG((rule.scalars = twice, rule.scalar_count = 2), "two scalars are called \"a\"");
    WRONG((rule.scalars = twice, rule.scalar_count = SIZE_MAX), "at most 8 are fed");
    WRONG((rule.scalars = dotted, rule.scalar_count = 1), "scalar 0 has a .");
    WRONG((rule.scalars = nameless, rule.scalar_count = 1), "scalar 0 is missing");
    WRONG(mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, 1), "compensated was set to 1, but it has none");
    WRONG(mw_optimizer_set(&optimizer, MW_OPTIMIZER_DECOUPLED, 1), "decoupled was set to 1, but it has none");
    WRONG(mw_optimizer_set(&optimizer, MW_OPTIMIZER_MOMENTUM, 0.9), "it has learning_rate, weight_decay");
    WRONG(mw_optimizer_set(&optimizer, MW_OPTIMIZER_EPSILON, 1e-4), "epsilon was set to 0.0001, but it has none");
    WRONG(mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, -1),
          "weight_decay was set to -1; it must be 0 or more");
    WRONG(mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, 0.1),
          "weight_decay is 0.1, but the rule does not say");
}

static void test_a_group_with_decay_needs_a_rule_that_decays(void)
{
    mw_error err = {0};
    act a = {.what = ""};
    const mw_optimizer_rule rule = rule_of(&a);
    const mw_optimizer optimizer = mw_optimizer_custom(0.1f, &rule);
    mw_parameter_group group = mw_parameter_group_defaults("w");
    mw_parameter_group_set(&group, MW_GROUP_WEIGHT_DECAY, 0.5f);
    CHECK(try_rule(&a, &optimizer, &group, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "weight_decay is 0.5, but the rule");
}

static void test_probes_that_are_wrong_are_refused(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL), *other = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_tensor *loss = mw_reduce_sum(mw_square(w), MW_ALL_AXES, false);
    mw_tensor *probes[] = {mw_parameter(other, "w", MW_F32, MW_SHAPE(1), mw_init_zeros()), w, mw_cast(loss, MW_F16)};
    const char *parts[] = {"belongs to another graph", "has 2 elements", "is fp16, the loss fp32"};
    for (int i = 0; i < 3; i++) {
        mw_error err = {0};
        act a = {.what = ""};
        mw_optimizer_rule rule = rule_of(&a);
        rule.probe = probes[i];
        mw_trainer_options o = mw_trainer_defaults(loss, mw_optimizer_custom(0.1f, &rule));
        o.compile = engine_options(MW_DEVICE_CPU, 1);
        CHECK(mw_trainer_create(&o, &err) == NULL);
        check_note(strstr(err.message, parts[i]) != NULL, __FILE__, __LINE__, "probe %d: \"%s\"", i, err.message);
    }
    mw_graph_destroy(other);
    mw_graph_destroy(g);
}

/* A call that no trainer made. */
static void test_a_call_without_scalars_has_none(void)
{
    CHECK(mw_update_call_scalar(&(const mw_update_call){.scalar_count = 1}, "rate") == NULL);
}

int main(void)
{
    RUN(test_states_that_are_wrong_are_refused);
    RUN(test_updates_that_are_wrong_are_refused);
    RUN(test_random_numbers_of_an_update_are_refused);
    RUN(test_an_update_cannot_destroy_the_graph_of_the_step);
    RUN(test_numbers_are_checked_at_each_step);
    RUN(test_a_number_may_not_use_the_trainer);
    RUN(test_rules_that_are_wrong_are_refused);
    RUN(test_a_group_with_decay_needs_a_rule_that_decays);
    RUN(test_probes_that_are_wrong_are_refused);
    RUN(test_a_call_without_scalars_has_none);
    return check_finish();
}
