/* Optimizers of the user's own: their rule instead of a row, and the checks of what it gives. */
#include "autograd/optimizers/optimizer_custom.h"

#include "autograd/optimizers/optimizer_update.h"
#include "base/memory/guard.h"
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "base/text/error.h"
#include "base/text/name.h"

#include <math.h>
#include <string.h>

_Static_assert(MW_UPDATE_STATES_MAX <= MW__OPTIMIZER_STATES, "room for each");
_Static_assert(MW_UPDATE_SCALARS_MAX <= MW__OPTIMIZER_SCALARS, "room for each");

enum { NAME_MAX_BYTES = 63, SETTINGS_MAX_BYTES = 255 };

static double custom_reach(const mw__optimizer *o, double loss_scale)
{
    (void)o, (void)loss_scale;
    return INFINITY;
}

/* The rest is the user's. */
const mw__optimizer_row mw__optimizer_custom = {
    .name = "custom", .numbers = MW__NUMBER_BIT(LEARNING_RATE) | MW__NUMBER_BIT(WEIGHT_DECAY), .reach = custom_reach};

mw_optimizer mw_optimizer_custom(float learning_rate, const mw_optimizer_rule *rule)
{
    mw__optimizer o = mw__optimizer_begin(MW__CUSTOM, learning_rate);
    o.rule = rule;
    return mw__optimizer_hide(&o);
}

mw_optimizer_rule mw_optimizer_rule_defaults(const char *name, mw_update_function *update)
{
    return (mw_optimizer_rule){.struct_size = sizeof(mw_optimizer_rule), .name = name, .update = update};
}

mw_tensor *mw_update_call_scalar(const mw_update_call *call, const char *name)
{
    MW__FLOAT_SCOPE;
    if (call == NULL || name == NULL)
        return NULL;
    const bool known = call->scalars != NULL && call->numbers != NULL;
    for (size_t i = 0; known && i < call->scalar_count; i++)
        if (strcmp(call->scalars[i].name, name) == 0)
            return call->numbers[i];
    return mw__graph_fail(call->graph, MW_ERROR_ARGUMENT, "mw_update_call_scalar: the rule has no scalar \"%s\"", name);
}

/* ---- the rule alone ---- */

static const char *name_fault(const char *name, char forbidden)
{
    if (name == NULL)
        return "is missing";
    const char *fault = mw__name_fault(name);
    if (fault != NULL)
        return fault;
    if (strlen(name) > NAME_MAX_BYTES)
        return "has more than 63 bytes";
    return forbidden != '\0' && strchr(name, forbidden) != NULL ? forbidden == '#' ? "has a #" : "has a ." : NULL;
}

static mw_status check_scalar(const mw_optimizer_rule *rule, size_t index, mw_error *err)
{
    const char *fault = name_fault(rule->scalars[index].name, '.');
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": the name of scalar %zu %s", rule->name, index,
                        fault);
    for (size_t i = 0; i < index; i++)
        if (strcmp(rule->scalars[i].name, rule->scalars[index].name) == 0)
            return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": two scalars are called \"%s\"", rule->name,
                            rule->scalars[i].name);
    return MW_OK;
}

static mw_status check_scalars(const mw_optimizer_rule *rule, mw_error *err)
{
    if (rule->scalar_count > MW_UPDATE_SCALARS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": %zu scalars; at most %d are fed", rule->name,
                        rule->scalar_count, MW_UPDATE_SCALARS_MAX);
    if ((rule->scalars == NULL) != (rule->scalar_count == 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": scalars is %sNULL, scalar_count %zu", rule->name,
                        rule->scalars == NULL ? "" : "not ", rule->scalar_count);
    for (size_t i = 0; i < rule->scalar_count; i++)
        MW_TRY(check_scalar(rule, i, err));
    return MW_OK;
}

static mw_status check_settings(const mw_optimizer_rule *rule, mw_error *err)
{
    if (rule->settings == NULL)
        return MW_OK;
    const char *fault = mw__name_fault(rule->settings);
    if (fault == NULL && strlen(rule->settings) > SETTINGS_MAX_BYTES)
        fault = "have more than 255 bytes";
    return fault == NULL ? MW_OK
                         : mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": its settings %s", rule->name, fault);
}

mw_status mw__optimizer_rule_check(const mw__optimizer *o, mw_error *err)
{
    const mw_optimizer_rule *rule = o->rule;
    if (o->kind != MW__CUSTOM)
        return MW_OK;
    if (rule == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: mw_optimizer_custom got no rule");
    if (rule->struct_size != sizeof *rule)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: the rule was not made by mw_optimizer_rule_defaults");
    const char *fault = name_fault(rule->name, '\0');
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer: the name of the rule %s", fault);
    if (rule->update == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\": there is no update", rule->name);
    MW_TRY(check_settings(rule, err));
    return check_scalars(rule, err);
}

/* ---- the trainer's copy ---- */

static const char *copy_string(const char *text, mw__arena *arena, mw_error *err)
{
    return text == NULL ? NULL : mw__arena_string(arena, text, strlen(text), err);
}

const mw_optimizer_rule *mw__optimizer_rule_copy(const mw_optimizer_rule *rule, mw__arena *arena, mw_error *err)
{
    static const mw_update_scalar rate = {.name = "learning_rate"};
    const mw_update_scalar *scalars = rule->scalars != NULL ? rule->scalars : &rate;
    const size_t count = rule->scalars != NULL ? rule->scalar_count : 1;
    mw_optimizer_rule *copy = mw__arena_alloc(arena, 1, sizeof *copy, err);
    mw_update_scalar *own = mw__arena_alloc(arena, count, sizeof *own, err);
    if (copy == NULL || own == NULL)
        return NULL;
    *copy = *rule;
    copy->scalars = own;
    copy->scalar_count = count;
    copy->name = copy_string(rule->name, arena, err);
    copy->settings = copy_string(rule->settings, arena, err);
    if (copy->name == NULL || (rule->settings != NULL && copy->settings == NULL))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        own[i] = (mw_update_scalar){copy_string(scalars[i].name, arena, err), scalars[i].value};
        if (own[i].name == NULL)
            return NULL;
    }
    return copy;
}

void mw__optimizer_rule_describe(const mw_optimizer_rule *rule, mw__text *text)
{
    mw__text_printf(text, " \"%s\"%s%s", rule->name, rule->settings != NULL ? " " : "",
                    rule->settings != NULL ? rule->settings : "");
}

/* ---- what it says ---- */

/* A failure of a function of the user's: its own words, those of a constructor that it called, or its status. */
static mw_status report(const mw_optimizer_rule *rule, const mw_update_parameter *of, mw_status status,
                        const mw_error *said, const mw_graph *graph, mw_error *err)
{
    mw_error built = {0};
    if (graph != NULL)
        mw_graph_check(graph, &built);
    const char *why = said->message[0] != '\0' ? said->message : built.message;
    status = status != MW_OK ? status : said->status != MW_OK ? said->status : built.status;
    mw__fail(err, status, "optimizer \"%s\", parameter \"%.96s\": %.400s", rule->name, of->name,
             why[0] != '\0' ? why : mw_status_name(status));
    mw__error_subject(err, "optimizer", of->name);
    return status;
}

static mw_status refuse_result(const mw_optimizer_rule *rule, const mw_update_parameter *of, const char *what,
                               size_t index, const char *fault, mw_error *err)
{
    mw__fail(err, MW_ERROR_ARGUMENT, "optimizer \"%s\", parameter \"%.96s\": %s %zu %s", rule->name, of->name, what,
             index, fault);
    mw__error_subject(err, "optimizer", of->name);
    return MW_ERROR_ARGUMENT;
}

/* Names that trainers use for other things beside a parameter. */
static const char *state_name_fault(const char *name)
{
    static const char *const taken[] = {"average", "sum", "gradient", "candidate", "next", "low"};
    const char *fault = name_fault(name, '#');
    for (size_t i = 0; fault == NULL && i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            fault = "has a name that trainers use themselves";
    return fault;
}

static const char *state_fault(const mw_update_state *states, size_t index, const mw_update_parameter *of)
{
    const mw_update_state *state = &states[index];
    const char *fault = state_name_fault(state->name);
    for (size_t i = 0; fault == NULL && i < index; i++)
        if (strcmp(states[i].name, state->name) == 0)
            fault = "has the name of an earlier one";
    if (fault != NULL)
        return fault;
    if (state->shape.rank < 0 || state->shape.rank > MW_RANK_MAX || mw_shape_count(state->shape) < 0)
        return "has no known shape";
    const bool half = of->half || of->dtype == MW_F16;
    if (!isfinite(state->initial) || (half && fabsf(state->initial) > MW__FP16_MAX))
        return "starts at what the type of the parameter cannot hold";
    return NULL;
}

mw_status mw__optimizer_rule_states(const mw_optimizer_rule *rule, const mw_update_parameter *of, mw__arena *arena,
                                    mw__optimizer_states *out, mw_error *err)
{
    mw_update_state states[MW_UPDATE_STATES_MAX];
    mw_error said = {0};
    size_t count = 0;
    out->count = 0;
    if (rule->states == NULL)
        return MW_OK;
    for (size_t i = 0; i < MW_UPDATE_STATES_MAX; i++)
        states[i] = (mw_update_state){.shape = of->shape};
    const mw__callback outer = mw__callback_begin("function of an optimizer", MW__LENT_NEVER);
    const mw_status status = rule->states(rule->user, of, states, &count, &said);
    mw__callback_end(outer);
    if (status != MW_OK || said.status != MW_OK)
        return report(rule, of, status, &said, NULL, err);
    if (count > MW_UPDATE_STATES_MAX)
        return refuse_result(rule, of, "state", count, "is one too many: there can be 8", err);
    for (size_t i = 0; i < count; i++) {
        const char *fault = state_fault(states, i, of);
        if (fault != NULL)
            return refuse_result(rule, of, "state", i, fault, err);
        out->items[i] = (mw__optimizer_state){.name = copy_string(states[i].name, arena, err),
                                              .shape = states[i].shape,
                                              .initial = (double)states[i].initial,
                                              .least = -INFINITY,
                                              .most = INFINITY};
        if (out->items[i].name == NULL)
            return MW_ERROR_MEMORY;
    }
    out->count = count;
    return MW_OK;
}

double mw__optimizer_rule_number(const mw_optimizer_rule *rule, size_t index, const mw_update_moment *moment)
{
    if (rule->scalars[index].value == NULL)
        return moment->learning_rate;
    const mw__callback outer = mw__callback_begin("function of an optimizer", MW__LENT_NEVER);
    const double value = rule->scalars[index].value(rule->user, moment);
    mw__callback_end(outer);
    return value;
}

/* ---- the update ---- */

static mw_status check_answer(const mw__optimizer_request *r, const mw_update_call *call, const mw_tensor *got,
                              const mw_tensor *like, const char *what, mw_error *err)
{
    const mw_optimizer_rule *rule = r->optimizer->rule;
    char has[64], wanted[64];
    if (got != NULL && got->graph == call->graph && got->type->kind == MW__TENSOR &&
        mw_tensor_dtype(got) == mw_tensor_dtype(like) && mw_shape_equal(mw_tensor_shape(got), mw_tensor_shape(like)))
        return MW_OK;
    mw_status status = MW_ERROR_ARGUMENT;
    if (got == NULL || got->graph != call->graph) {
        mw__fail(err, status, "optimizer \"%s\", parameter \"%.96s\": the update gave %s for the new \"%s\"",
                 rule->name, call->parameter->name,
                 got == NULL ? "nothing" : "a tensor of another graph (append to call->graph)", what);
    } else {
        status = mw_tensor_dtype(got) != mw_tensor_dtype(like) ? MW_ERROR_DTYPE : MW_ERROR_SHAPE;
        mw__fail(err, status,
                 "optimizer \"%s\", parameter \"%.96s\": the update gave %s %s for the new \"%s\", which is "
                 "%s %s",
                 rule->name, call->parameter->name, mw_dtype_name(mw_tensor_dtype(got)),
                 mw__shape_print(mw_tensor_shape(got), has, sizeof has), what, mw_dtype_name(mw_tensor_dtype(like)),
                 mw__shape_print(mw_tensor_shape(like), wanted, sizeof wanted));
    }
    mw__error_subject(err, "optimizer", call->parameter->name);
    return status;
}

static mw_status check_answers(const mw__optimizer_request *r, const mw_update_call *call, mw_tensor *p,
                               mw_tensor *const *states, mw_error *err)
{
    MW_TRY(check_answer(r, call, p, r->p, "p", err));
    for (size_t i = 0; i < r->state_count; i++)
        MW_TRY(check_answer(r, call, states[i], r->state[i], r->states->items[i].name, err));
    return MW_OK;
}

/* The gradient as the rule wants it. */
static mw_tensor *unscaled(const mw__optimizer_request *r, mw_tensor *gradient)
{
    const double scale = r->scalars->loss_scale;
    return gradient == NULL || scale == 1.0 || r->optimizer->rule->scaled_gradients
               ? gradient
               : mw_mul_scalar(gradient, 1.0 / scale);
}

static mw_status ask(const mw__optimizer_request *r, const mw_update_call *call, mw_tensor **out_p,
                     mw_tensor **out_state, mw_error *err)
{
    const mw_optimizer_rule *rule = r->optimizer->rule;
    const mw__block *body = mw__graph_main(r->graph)->body;
    const size_t inputs = body->input_count, outputs = body->output_count;
    mw_error said = {0};
    r->graph->exposed = true; /* the user may keep what the rule is shown */
    const mw__callback outer = mw__callback_begin("update of an optimizer", MW__LENT_NEVER);
    const mw_status status = rule->update(call, out_p, out_state, &said);
    mw__callback_end(outer);
    if (status != MW_OK || said.status != MW_OK || r->graph->error.status != MW_OK)
        return report(rule, call->parameter, status, &said, r->graph, err);
    if (body->input_count != inputs || body->output_count != outputs) {
        mw__fail(err, MW_ERROR_ARGUMENT,
                 "optimizer \"%s\", parameter \"%.96s\": the update made an %s; an update is of operations alone",
                 rule->name, call->parameter->name,
                 body->input_count != inputs ? "input, a parameter or a state" : "output");
        mw__error_subject(err, "optimizer", call->parameter->name);
        return MW_ERROR_ARGUMENT;
    }
    return check_answers(r, call, *out_p, out_state, err);
}

mw_status mw__optimizer_rule_apply(const mw__optimizer_request *r, mw_tensor **out_p, mw_tensor **out_state,
                                   mw_error *err)
{
    const mw__optimizer *o = r->optimizer;
    mw_tensor *new_p = NULL, *new_state[MW__OPTIMIZER_STATES] = {NULL};
    const mw_update_parameter parameter = {.name = mw_tensor_name(r->p),
                                           .dtype = mw_tensor_dtype(r->p),
                                           .shape = mw_tensor_shape(r->p),
                                           .half = r->scalars->half};
    const mw_update_call call = {.user = o->rule->user,
                                 .graph = r->graph,
                                 .parameter = &parameter,
                                 .p = r->p,
                                 .g = unscaled(r, r->gradient),
                                 .probe = unscaled(r, r->probe),
                                 .states = r->state,
                                 .state_count = r->state_count,
                                 .scalars = o->rule->scalars,
                                 .numbers = r->scalars->scalar,
                                 .scalar_count = o->rule->scalar_count,
                                 .weight_decay = (double)o->weight_decay,
                                 .loss_scale = o->rule->scaled_gradients ? r->scalars->loss_scale : 1.0};
    MW_TRY(mw_graph_check(r->graph, err));
    MW_TRY(ask(r, &call, &new_p, new_state, err));
    *out_p = new_p;
    for (size_t i = 0; i < r->state_count; i++)
        out_state[i] = new_state[i];
    return MW_OK;
}
