/* Which features a description has, of functions, and what else a model says of itself. */
#include "format/coreml/encode.h"
#include "graph/ir/build_info.h"
#include "graph/ir/classify.h"
#include <string.h>

/* One function that is described. */
typedef struct describing {
    mw__encoder *e;
    const mw__function *function;
    const mw_graph *alone;                /* as "main" of its own graph: shapes are asked of it */
    const mw_function_description *given; /* or NULL */
} describing;

static const mw_feature *given_feature(const mw_feature *features, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (features[i].name != NULL && strcmp(features[i].name, name) == 0)
            return &features[i];
    return NULL;
}

static mw_tensor *find_port(mw_tensor *const *ports, size_t count, const char *name, bool states)
{
    for (size_t i = 0; i < count; i++)
        if ((ports[i]->type->kind == MW__STATE) == states && strcmp(ports[i]->name, name) == 0)
            return ports[i];
    return NULL;
}

/* Ports of one kind: inputs, states or outputs. */
typedef struct port_list {
    mw_tensor *const *ports;
    size_t count;
    bool states, inputs;
    const mw_feature *given;
    size_t given_count;
} port_list;

static mw_status append_feature(const describing *d, const port_list *list, const mw_feature *feature, pb_feature **out,
                                size_t *out_count)
{
    out[*out_count] = mw__coreml_encode_feature(d->e, feature, list->states);
    if (out[*out_count] == NULL)
        return d->e->err->status;
    ++*out_count;
    return MW_OK;
}

/* The given features, in their order: each is a port, once. */
static mw_status append_given(const describing *d, const port_list *list, pb_feature **out, size_t *out_count)
{
    for (size_t i = 0; i < list->given_count; i++) {
        mw_feature feature = list->given[i];
        feature.text = feature.text != NULL ? feature.text : "";
        const mw_tensor *port =
            feature.name != NULL ? find_port(list->ports, list->count, feature.name, list->states) : NULL;
        if (port == NULL)
            return mw__fail(d->e->err, MW_ERROR_ARGUMENT,
                            "the description names \"%.96s\", which is no %s of \"%.96s\"",
                            feature.name != NULL ? feature.name : "",
                            list->states   ? "state"
                            : list->inputs ? "input"
                                           : "output",
                            d->function->name);
        if (given_feature(list->given, i, feature.name) != NULL)
            return mw__fail(d->e->err, MW_ERROR_ARGUMENT, "the description names \"%.96s\" twice", feature.name);
        MW_TRY(mw__coreml_fit_feature(d->e, &feature, port));
        MW_TRY(append_feature(d, list, &feature, out, out_count));
    }
    return MW_OK;
}

static mw_status fill_features(const describing *d, const port_list *list, pb_feature ***out, size_t *out_count)
{
    *out = mw__coreml_encode_alloc(d->e, list->count + list->given_count, sizeof **out);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(append_given(d, list, *out, out_count));
    for (size_t i = 0; i < list->count; i++) {
        mw_feature feature;
        const mw_tensor *port = list->ports[i];
        if ((port->type->kind == MW__STATE) != list->states ||
            given_feature(list->given, list->given_count, port->name) != NULL)
            continue;
        MW_TRY(mw__coreml_feature_of(d->e, d->alone, port, list->inputs, &feature));
        MW_TRY(append_feature(d, list, &feature, *out, out_count));
    }
    return MW_OK;
}

/* The name of result `index` of classify among the outputs; "" if there is none. */
static const char *class_output(const mw__function *function, uint32_t index)
{
    for (size_t i = 0; i < function->body->output_count; i++)
        if (mw__classify_of(function->body->outputs[i]) != NULL && function->body->outputs[i]->result == index)
            return function->body->outputs[i]->name;
    return "";
}

static mw_status fill_function(const describing *d, pb_function_description *out)
{
    static const mw_function_description none = {.name = ""};
    const mw__block *body = d->function->body;
    const mw_function_description *given = d->given != NULL ? d->given : &none;
    const port_list inputs = {body->inputs, body->input_count, false, true, given->inputs, given->input_count};
    const port_list states = {body->inputs, body->input_count, true, true, given->states, given->state_count};
    const port_list outputs = {body->outputs, body->output_count, false, false, given->outputs, given->output_count};
    MW_TRY(fill_features(d, &inputs, &out->input, &out->n_input));
    MW_TRY(fill_features(d, &states, &out->state, &out->n_state));
    MW_TRY(fill_features(d, &outputs, &out->output, &out->n_output));
    out->name = mw__coreml_encode_string(d->e, d->function->name);
    out->predicted = mw__coreml_encode_string(d->e, class_output(d->function, 0));
    out->probabilities = mw__coreml_encode_string(d->e, class_output(d->function, 1));
    return out->name != NULL && out->predicted != NULL && out->probabilities != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- the model ---- */

static const mw_function_description *given_function(const mw_description *given, const mw_graph *graph,
                                                     const char *name)
{
    if (given == NULL)
        return NULL;
    for (size_t i = 0; i < given->function_count; i++)
        if (given->functions[i].name != NULL && strcmp(given->functions[i].name, name) == 0)
            return &given->functions[i];
    return given->function_count == 1 && graph->function_count == 1 ? &given->functions[0] : NULL;
}

static pb_function_description *encode_function(mw__encoder *e, const mw_graph *graph, size_t index,
                                                const mw_description *given)
{
    const mw__function *function = graph->functions[index];
    pb_function_description *out = MW__MAKE(e, pb_function_description);
    if (out == NULL)
        return NULL;
    mw__coreml__function_description__init(out);
    mw_graph *alone = mw_graph_function(graph, function->name, e->err);
    if (alone == NULL)
        return NULL;
    const describing d = {e, function, alone, given_function(given, graph, function->name)};
    const mw_status status = fill_function(&d, out);
    mw_graph_destroy(alone);
    return status == MW_OK ? out : NULL;
}

static const char *or_empty(const char *text) { return text != NULL ? text : ""; }

static char *encode_text(mw__encoder *e, const char *what, const char *text)
{
    return mw__coreml_encode_string(e, mw__build_info_is_text(what, or_empty(text)) ? or_empty(text) : "");
}

static bool fill_pairs(mw__encoder *e, const mw_description *given, pb_metadata *out)
{
    out->user = mw__coreml_encode_alloc(e, given->pair_count, sizeof *out->user);
    for (size_t i = 0; out->user != NULL && i < given->pair_count; i++) {
        const char *key = or_empty(given->pairs[i].key), *value = or_empty(given->pairs[i].value);
        if (!mw__build_info_is_text(key, key) || !mw__build_info_is_text(key, value))
            continue;
        Mw__Coreml__Pair *pair = MW__MAKE(e, Mw__Coreml__Pair);
        if (pair == NULL)
            return false;
        mw__coreml__pair__init(pair);
        pair->key = mw__coreml_encode_string(e, key);
        pair->value = mw__coreml_encode_string(e, value);
        if (pair->key == NULL || pair->value == NULL)
            return false;
        out->user[out->n_user++] = pair;
    }
    return out->user != NULL;
}

static bool fill_metadata(mw__encoder *e, const mw_description *given, pb_description *out)
{
    if (given == NULL)
        return true;
    pb_metadata *metadata = out->metadata = MW__MAKE(e, pb_metadata);
    if (metadata == NULL)
        return false;
    mw__coreml__metadata__init(metadata);
    metadata->description = encode_text(e, "text", given->text);
    metadata->version = encode_text(e, "version", given->version);
    metadata->author = encode_text(e, "author", given->author);
    metadata->license = encode_text(e, "license", given->license);
    return metadata->description != NULL && metadata->version != NULL && metadata->author != NULL &&
           metadata->license != NULL && fill_pairs(e, given, metadata);
}

/* A model of one function says it of itself. */
static bool fill_only(mw__encoder *e, const mw_graph *graph, const mw_description *given, pb_description *out)
{
    const pb_function_description *only = encode_function(e, graph, 0, given);
    if (only == NULL)
        return false;
    out->input = only->input;
    out->n_input = only->n_input;
    out->output = only->output;
    out->n_output = only->n_output;
    out->state = only->state;
    out->n_state = only->n_state;
    out->predicted = only->predicted;
    out->probabilities = only->probabilities;
    return true;
}

static bool fill_functions(mw__encoder *e, const mw_graph *graph, const mw_description *given, pb_description *out)
{
    const char *standard = mw__graph_main(graph) != NULL ? "main" : graph->functions[0]->name;
    if (given != NULL && given->standard < given->function_count &&
        mw__function_find(graph, or_empty(given->functions[given->standard].name)) != NULL)
        standard = given->functions[given->standard].name;
    out->default_function = mw__coreml_encode_string(e, standard);
    out->functions = mw__coreml_encode_alloc(e, graph->function_count, sizeof *out->functions);
    for (size_t i = 0; out->functions != NULL && i < graph->function_count; i++) {
        if ((out->functions[i] = encode_function(e, graph, i, given)) == NULL)
            return false;
        out->n_functions++;
    }
    return out->functions != NULL && out->default_function != NULL;
}

pb_description *mw__coreml_encode_description(mw__encoder *e, const mw_graph *graph, const mw_description *given)
{
    pb_description *out = MW__MAKE(e, pb_description);
    if (out == NULL)
        return NULL;
    mw__coreml__description__init(out);
    const bool good =
        graph->function_count == 1 ? fill_only(e, graph, given, out) : fill_functions(e, graph, given, out);
    return good && fill_metadata(e, given, out) ? out : NULL;
}
