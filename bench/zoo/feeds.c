/* What the networks are fed, and their forms. */
#include "run.h"

zoo_form zoo_make(const zoo_options *o, const zoo_net *net, mw_tensor **out_result, mw_error *err)
{
    zoo_form form = {.graph = mw_graph_create(NULL, err), .training = !o->infer && o->onnx == NULL};
    form.tiny = o->bench.tiny;
    form.batch = form.tiny ? 4 : net->batch;
    zoo_spread = 0.0;
    *out_result = net->build(&form);
    if (!form.training)
        mw_output(*out_result, "result");
    return form;
}

static mw_feed draw_input(const zoo_form *form, int index)
{
    const int32_t below = form->input[index].below;
    mw_tensor *input = mw_graph_find(form->graph, form->input[index].name);
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(input));
    float *floats = bench_uniforms(count);
    int32_t *integers = (int32_t *)floats;
    for (size_t i = 0; below > 0 && i < count; i++)
        integers[i] = (int32_t)(floats[i] * (float)below);
    return bench_feed(form->input[index].name, below > 0 ? MW_I32 : MW_F32, floats, count);
}

zoo_feeds zoo_draw(const zoo_form *form)
{
    zoo_feeds feeds = {.count = 0};
    for (int i = 0; i < form->input_count; i++)
        if (mw_graph_find(form->graph, form->input[i].name) != NULL)
            feeds.feed[feeds.count++] = draw_input(form, i);
    return feeds;
}

void zoo_free(zoo_feeds *feeds)
{
    for (size_t i = 0; i < feeds->count; i++)
        free((void *)(uintptr_t)feeds->feed[i].data);
}

void zoo_emit_size(const zoo_options *o, const zoo_form *form, mw_error *err)
{
    size_t count = 0;
    double parameters = 0.0, elements = 0.0;
    mw_graph_weights(form->graph, NULL, 0, &count, err);
    mw_weight *weights = bench_alloc(count, sizeof *weights);
    mw_graph_weights(form->graph, weights, count, NULL, err);
    for (size_t i = 0; i < count; i++)
        parameters += weights[i].is_parameter ? (double)mw_shape_count(weights[i].shape) : 0.0;
    for (int i = 0; i < form->input_count; i++)
        elements += (double)mw_shape_count(mw_tensor_shape(mw_graph_find(form->graph, form->input[i].name)));
    free(weights);
    bench_emit(o->bench.workload, "parameters", parameters);
    bench_emit(o->bench.workload, "elements", elements);
}
