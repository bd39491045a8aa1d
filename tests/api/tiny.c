#include "tiny.h"

mw_trainer *tiny_trainer(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(TINY_N, TINY_D));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(TINY_N));
    mw_tensor *logits = mw_dense(mw_tanh(mw_dense(x, TINY_H, "fc1")), TINY_C, "fc2");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(0.01f));
    options.compile.threads = 2;
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

void tiny_fill(tiny_batch *out)
{
    for (int i = 0; i < TINY_N * TINY_D; i++)
        out->x[i] = (float)(i * 7 % 11) / 11.0f;
    for (int i = 0; i < TINY_N; i++)
        out->y[i] = i % TINY_C;
    out->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = out->x, .count = TINY_N * TINY_D};
    out->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = out->y, .count = TINY_N};
    out->batch = (mw_batch){.feeds = out->feeds, .feed_count = 2, .examples = TINY_N};
}

mw_status tiny_train(int steps, float out_weights[TINY_WEIGHTS], mw_error *err)
{
    mw_trainer *trainer = tiny_trainer(err);
    tiny_batch batch;
    tiny_fill(&batch);
    for (int i = 0; i < steps; i++)
        mw_trainer_step(trainer, &batch.batch, NULL, err);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, out_weights, TINY_WEIGHTS, err);
    mw_trainer_destroy(trainer);
    return err->status;
}
