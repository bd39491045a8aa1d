#include "child_net.h"
#include "runtime/small.h"
#include "support/check.h"

child_net child_make(mw_error *err)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.02f));
    options.metric = net.accuracy;
    options.prediction = net.logits;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    const child_net made = {.data = mw_dataset_create(columns, 2, SMALL_EXAMPLES, true, err),
                            .trainer = mw_trainer_create(&options, err)};
    mw_graph_destroy(net.graph);
    CHECK_INT(err->status, MW_OK);
    return made;
}

void child_free(child_net *net)
{
    mw_trainer_destroy(net->trainer);
    mw_dataset_destroy(net->data);
}
