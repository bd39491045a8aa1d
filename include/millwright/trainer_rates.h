/* Learning rates by depth and by selector: layers near the input change less than those near the result.
 *
 *     static const mw_rate_factor factors[] = {{"*_bias", 2.0f}, {"classifier*", 10.0f}};
 *     options.rates.decay = 0.8f;
 *     options.rates.factors = factors;
 *     options.rates.factor_count = 2;
 *     options.rates.source = source;      // of mw_graph_trainable(source, ..)
 *
 * Threads: the report is called by the thread that makes the trainer. */
#ifndef MILLWRIGHT_TRAINER_RATES_H
#define MILLWRIGHT_TRAINER_RATES_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A factor of the learning rate for what a pattern takes. */
typedef struct mw_rate_factor {
    const char *pattern; /* of parameters' names, as fnmatch(3); if it matches none, of names of layers of the source */
    float factor;        /* > 0 and finite */
} mw_rate_factor;

/** What became of a parameter. */
typedef struct mw_rate_choice {
    const char *parameter;
    int depth;           /* of its layer from the results, as mw_graph_weights finds it */
    const char *pattern; /* of the factor that took it; NULL = none */
    double factor;       /* by which its learning rate is multiplied, that of its group included */
} mw_rate_choice;

/** Told of each parameter that is trained, before mw_trainer_create returns; the choice is valid during the call. */
typedef void mw_rate_report(void *user, const mw_rate_choice *choice);

/** The learning rate of each parameter is multiplied by decay^(depth - 1) and by the factor of a selector, beside the
 *  rate_factor of its group. Read by mw_trainer_create.
 *  source  Howard and Ruder 2018, discriminative fine-tuning; Clark et al. 2020, layer-wise decay */
typedef struct mw_trainer_rates {
    float decay;                   /* in (0, 1]; 0 = 1 */
    const mw_rate_factor *factors; /* the first that matches a parameter counts; each must take one at least */
    size_t factor_count;
    const mw_graph *source; /* from which mw_graph_trainable or mw_graph_lora made the loss's graph: its names of layers
                             * (mw_weight.layer) are those that patterns mean. NULL = names of parameters alone */
    mw_rate_report *report; /* NULL = none */
    void *report_user;
} mw_trainer_rates;

#ifdef __cplusplus
}
#endif
#endif
