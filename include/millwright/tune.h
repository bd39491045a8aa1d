/* Fine-tuning a program that exists: chosen constants become parameters, or get low-rank adapters (LoRA).
 *
 *     mw_graph *source = mw_graph_open_mil("model/model.mil", NULL, &err);
 *     const char *const head[] = {"fc2_*"};
 *     const mw_tune_options options = mw_tune_defaults(head, 1);
 *     mw_graph *graph = mw_graph_trainable(source, &options, &err);
 *     mw_tensor *logits = mw_graph_output_at(graph, 0);
 *     mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(64));
 *     ... a trainer of mw_cross_entropy(logits, labels), some steps ...
 *     mw_trainer_export(trainer, source, "tuned", NULL, &err);
 *
 * Everything works on copies; the source is what the result is written back into, so that the tuned program has the
 * operations, names and layouts of the one that was read. docs/finetuning.md describes the whole way.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_TUNE_H
#define MILLWRIGHT_TUNE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a program holds ---- */

/** What a constant is to the program, by the operations that use it (casts, transposes, reshapes and slices in between
 *  do not count). */
typedef enum mw_weight_role {
    MW_WEIGHT_NONE = 0,  /* no weight of a layer: a scale, a mask, an offset, an argument such as epsilon */
    MW_WEIGHT_KERNEL,    /* of conv, conv_transpose, linear, matmul, einsum, lstm, gru, rnn (there its biases too) */
    MW_WEIGHT_BIAS,      /* of conv, conv_transpose, linear; a vector that is added to a product with a kernel */
    MW_WEIGHT_NORM,      /* gamma or beta of a norm, also of one spelled out with rsqrt or sqrt */
    MW_WEIGHT_TABLE,     /* rows that gather takes: an embedding; a table that is added to such rows, to what layers
                          * make or to scores (positions, relative biases); a token that is joined to a sequence */
    MW_WEIGHT_SLOPE,     /* alpha of prelu, also spelled out, alpha and beta of softplus_parametric */
    MW_WEIGHT_STATISTIC, /* mean or variance of batch_norm */
    MW_WEIGHT_PARAMETER, /* made by mw_parameter */
    MW_WEIGHT_SCALE      /* multiplies or divides what layers make: a layer scale, a temperature */
} mw_weight_role;

/** A weight of a program: a named fp16 or fp32 constant of "main", or a parameter. Strings live as long as the graph.
 */
typedef struct mw_weight {
    const char *name;
    mw_dtype dtype;
    mw_shape shape;
    size_t size;           /* bytes */
    bool is_parameter;     /* or a constant */
    mw_weight_role role;   /* NONE if any use is no weight's: a constant that is both weight and scale */
    const char *role_name; /* "none", "kernel", "bias", .. */
    const char
        *operation; /* that uses it (if there is an obstacle or a reason, the one that is in the way), "" = none */
    const char *argument; /* as which it is used there */
    const char *obstacle; /* NULL: it can be trained; else why not */
    const char *reason;   /* NULL: patterns take it; else why only its whole name does */
    const char *layer; /* name of the operation that uses it: that of an ONNX node, of a statement of MIL; "" = none */
    int depth;         /* of its layer, counted from the results: 1 = no layer with weights lies behind it, 2 = one by
                        * the longest way, ..; 0 = leads to no result. Layers have kernels or tables: biases, norms
                        * and scales belong to the layer before them. Adapters are as deep as what they adapt. A
                        * weight that is used several times is as deep as its last use */
} mw_weight;

/** Lists the weights of "main", those in branches and loops too, the largest first. Where constants of two blocks have
 *  one name none of them can be trained; the obstacle says so.
 *  out_weights  receives at most `capacity`; may be NULL if that is 0
 *  out_count    receives how many there are; may be NULL */
MW_API mw_status mw_graph_weights(const mw_graph *graph, mw_weight *out_weights, size_t capacity, size_t *out_count,
                                  mw_error *err);

/** Input `index` of "main" that the host feeds (no parameter, no state), in the order of the text; NULL past the last.
 */
MW_API mw_tensor *mw_graph_input_at(const mw_graph *graph, size_t index);
/** Result `index` of "main"; NULL past the last. */
MW_API mw_tensor *mw_graph_output_at(const mw_graph *graph, size_t index);

/* ---- training weights themselves ---- */

/** What a call made of a weight that a pattern matched. */
typedef enum mw_tune_outcome {
    MW_TUNE_TRAINED, /* a parameter of the copy */
    MW_TUNE_ADAPTED, /* has an adapter (mw_graph_lora) */
    MW_TUNE_LEFT     /* as it was: reason says why */
} mw_tune_outcome;

typedef struct mw_tune_choice {
    const mw_weight *weight;
    const char *pattern; /* that took it, or would have; "last" of those that the number of layers took */
    mw_tune_outcome outcome;
    const char *reason; /* NULL unless MW_TUNE_LEFT */
} mw_tune_choice;

/** Told once of each weight that a pattern matched, the largest first, when all of them are settled and before the copy
 *  is made; not called if the choice is refused. The choice is valid during the call, its strings as long as source and
 *  options. */
typedef void mw_tune_report(void *user, const mw_tune_choice *choice);

/** What to train. Fill with mw_tune_defaults. Pointers are read during the call only. */
typedef struct mw_tune_options {
    size_t struct_size;
    const char *const *patterns; /* of whole weight names, as fnmatch(3); each must take one at least. With wildcards it
                                  * takes weights of layers (mw_weight.reason is NULL); a name given whole is taken
                                  * whatever it is, a mask or a running variance too. A pattern that matches no weight's
                                  * name is one of layers' names (mw_weight.layer), of which it takes all weights:
                                  * those of ONNX nodes, in which "/", ":" and the like stand for "_" */
    size_t pattern_count;
    int last; /* also the weights of the last layers, so many (mw_weight.depth); 0 = by patterns alone. Not more than
               * there are */
    bool skip_fixed; /* leave out weights of layers that cannot be trained; else they are an error */
    mw_dtype dtype;  /* MW_F32: weights of fp16 are kept and updated in fp32, and rounded where they are used.
                      * MW_DTYPE_NONE: each weight keeps its type; small updates of fp16 parameters are lost. Any other
                      * type is MW_ERROR_ARGUMENT.
                      * source  Micikevicius et al. 2018, section 3.1 */
    const mw_input_shape *shapes; /* that inputs get in the copy: extents for their `?`, or a batch for a program of
                                   * batch 1. The shapes behind them follow; what is written back keeps the source's */
    size_t shape_count;
    mw_tune_report *report; /* NULL = none */
    void *report_user;
} mw_tune_options;

/** Returns options with everything else at its default. */
MW_API mw_tune_options mw_tune_defaults(const char *const *patterns, size_t count);

/** A copy of "main" in which the matching constants are parameters of the same name that start with their values.
 *  Operations that want constants there are replaced by others of the same value (linear by matmul and add). Other
 *  constants stay, and other parameters of the source become states: frozen, without optimizer state. So are batch norm
 *  layers of which no pattern takes weight or bias: they keep their running statistics, and normalize by them.
 *  return  owned by the caller, by the allocator of the source; NULL with err set on failure
 *  errors  MW_ERROR_ARGUMENT for a pattern that matches nothing (the message lists names near it), for a
 *          pattern that matches only constants that are no weights of layers (the message lists them, with reasons),
 *          for more layers than there are, for a shape of an input that does not exist, and for a dtype other than
 *          MW_F32 and MW_DTYPE_NONE; MW_ERROR_UNSUPPORTED for a matching weight that cannot be trained, naming
 *          operation and argument; MW_ERROR_SHAPE if the program does not fit the given shapes */
MW_API mw_graph *mw_graph_trainable(const mw_graph *source, const mw_tune_options *options, mw_error *err);

/* ---- low-rank adapters ---- */

/** What to adapt. Fill with mw_lora_defaults. */
typedef struct mw_lora_options {
    size_t struct_size;
    const char *const *patterns; /* weights of linear, matmul and conv that get an adapter, as in mw_tune_options */
    size_t pattern_count;
    int last;                         /* also those of the last layers, as in mw_tune_options */
    int rank;                         /* r, from 1; default 8 */
    float alpha;                      /* > 0; the adapter is scaled by alpha / r; default 16 */
    const char *const *full_patterns; /* weights that are trained themselves beside them, e.g. a head; may be NULL */
    size_t full_count;
    bool skip_fixed; /* as in mw_tune_options; also leaves out matches that are no weight of such an operation */
    mw_dtype dtype;  /* of the parameters, as in mw_tune_options */
    const mw_input_shape *shapes;
    size_t shape_count;
    mw_tune_report *report; /* as in mw_tune_options */
    void *report_user;
} mw_lora_options;

/** Returns options with everything else at its default. */
MW_API mw_lora_options mw_lora_defaults(const char *const *patterns, size_t count);

/** A copy of "main" in which every matching weight W stands for W + alpha / r B A, with parameters A and B:
 *      linear, matmul  W [out, in] (or [in, out])    A [r, in]              B [out, r]
 *      conv            W [out, in / groups, k..]     A [r, in / groups, k..] B [out, r, 1..]
 *  W "fc1.weight", "fc1_weight" or "fc1_weight_to_fp16" gives "fc1.lora_A.weight" and "fc1.lora_B.weight", in the dtype
 *  of W or that of the options. A starts uniform in +-1/sqrt(fan_in), B at 0, so that the copy first computes what the
 *  source does. W is frozen: a constant stays one, a parameter becomes a state. Where W has one use, directly
 *  or behind a transpose of its own, the adapter is a branch beside it, (x A') B', and no gradient of W's size exists;
 *  else B A is added to W.
 *  return  as mw_graph_trainable
 *  errors  as mw_graph_trainable; MW_ERROR_ARGUMENT for a rank below 1, an alpha that is not positive, a weight that
 *          both lists match; MW_ERROR_UNSUPPORTED for a match that is no weight of linear, matmul or conv
 *  source  Hu et al. 2021, section 4.1; names and layouts of PEFT */
MW_API mw_graph *mw_graph_lora(const mw_graph *source, const mw_lora_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
