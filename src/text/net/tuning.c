/* Which weights are trained. */
#include "text/net/net.h"

#include "base/text/error.h"

enum { RANK_MOST = 1024 };

mw_status mw__language_check_tuning(const mw_text_tuning *tuning, mw_error *err)
{
    if (tuning->rank < 0 || tuning->rank > RANK_MOST || !(tuning->alpha >= 0.0F && tuning->alpha <= 1e6F))
        return mw__fail(err, MW_ERROR_ARGUMENT, "adapters: a rank of %d (0 to %d), an alpha of %g", tuning->rank,
                        RANK_MOST, (double)tuning->alpha);
    if (tuning->weights == NULL && tuning->weight_count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "tuning: no names of weights");
    return MW_OK;
}

static mw_graph *adapt(const mw_graph *graph, const mw_text_tuning *tuning, const mw__family *family, mw_error *err)
{
    const bool said = tuning->weight_count > 0;
    const size_t usual = family->adapted[1] != NULL ? 2 : 1;
    mw_lora_options options =
        mw_lora_defaults(said ? tuning->weights : family->adapted, said ? tuning->weight_count : usual);
    options.rank = tuning->rank;
    options.alpha = tuning->alpha > 0.0F ? tuning->alpha : 8.0F;
    return mw_graph_lora(graph, &options, err);
}

mw_graph *mw__language_tuned(mw_graph *graph, const mw_text_tuning *tuning, const mw__family *family, mw_error *err)
{
    if (tuning->rank == 0 && tuning->weight_count == 0)
        return graph;
    mw_graph *tuned = NULL;
    if (tuning->rank > 0) {
        tuned = adapt(graph, tuning, family, err);
    } else {
        const mw_tune_options options = mw_tune_defaults(tuning->weights, tuning->weight_count);
        tuned = mw_graph_trainable(graph, &options, err);
    }
    mw_graph_destroy(graph);
    return tuned;
}
