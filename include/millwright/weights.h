/* Weights from any file of tensors into a trainer, a program or a graph that is there: a part of them, under other
 * names, beside a new head, or under adapters; and weights that take less.
 *
 *     const mw_weights_prefix names[] = {{"module.", ""}};
 *     mw_weights_options options = mw_weights_defaults();
 *     options.prefixes = names;
 *     options.prefix_count = 1;
 *     options.new_heads = true;    // the last layer has another number of classes
 *     mw_trainer_load_weights(trainer, "resnet.pt", &options, &err);
 *
 * A model takes a file as an option: mw_model_options.weights.
 *
 * A folder that holds adapter_config.json is an adapter as PEFT stores it: it is for trainers and programs whose graph
 * has adapters (mw_graph_lora), not for mw_graph_load_weights. Any other path is what mw_tensors_open takes, folders of
 * shards or with model.safetensors among them. docs/tensors.md lists the formats.
 *
 * Threads: as the trainer, the program or the graph. */
#ifndef MILLWRIGHT_WEIGHTS_H
#define MILLWRIGHT_WEIGHTS_H

#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_trainer mw_trainer;

/** A tensor whose name begins with `from` stands for the parameter `to` + the rest of the name. */
typedef struct mw_weights_prefix {
    const char *from, *to;
} mw_weights_prefix;

/** The name in the model of a tensor of the file; NULL = it is not wanted. What is returned is copied before the next
 *  call. */
typedef const char *mw_weights_name(void *user, const char *tensor);

/** What became of a parameter, or of a tensor. */
typedef enum mw_weights_outcome {
    MW_WEIGHTS_TAKEN,   /* the parameter has the values of the tensor */
    MW_WEIGHTS_MISSING, /* the file has no tensor for the parameter, which keeps its values */
    MW_WEIGHTS_SHAPE,   /* the tensor has another shape; the parameter keeps its values */
    MW_WEIGHTS_UNUSED   /* no parameter takes the tensor */
} mw_weights_outcome;

typedef struct mw_weights_choice {
    mw_weights_outcome outcome;
    const char *parameter; /* NULL for MW_WEIGHTS_UNUSED */
    const char *tensor;    /* its name in the file; NULL for MW_WEIGHTS_MISSING */
    mw_shape shape;        /* of the parameter, or of the unused tensor */
    mw_shape there;        /* of the tensor */
} mw_weights_choice;

/** Told of every parameter and then of every tensor that is left, before anything is read or refused. The choice is
 *  valid during the call. */
typedef void mw_weights_report(void *user, const mw_weights_choice *choice);

/** How to load. Fill with mw_weights_defaults. Pointers are read during the call only. */
typedef struct mw_weights_options {
    size_t struct_size;
    const mw_weights_prefix *prefixes; /* the first that fits a name counts; a name that none fits stays as it is */
    size_t prefix_count;
    mw_weights_name *name; /* NULL = none; is given what the prefixes made of the name */
    void *name_user;
    bool partial;    /* parameters that the file lacks keep their values; else they are an error */
    bool new_heads;  /* so do those of another shape */
    bool base;       /* the factors of adapters (mw_graph_lora) keep theirs: the file has the weights under them */
    bool compressed; /* of a graph: quantized blocks of the file stay so (mw_tensors_constant) */
    mw_weights_report *report; /* NULL = none */
    void *report_user;
} mw_weights_options;

/** Returns options with everything off. */
MW_API mw_weights_options mw_weights_defaults(void);

/** Parameters and the states that evaluation reads (running statistics, as in PyTorch's state dict), by their names, as
 *  safetensors: F32 or F16 as the device holds them. */
MW_API mw_status mw_trainer_save_weights(mw_trainer *trainer, const char *path, mw_error *err);

/** Writes the adapters, and what was trained beside them, as PEFT does: folder/adapter_model.safetensors with names
 *  such as "base_model.model.fc1.lora_A.weight", and folder/adapter_config.json. Each file is replaced as a whole, the
 *  tensors first; they say their alpha too, so that a folder whose files are of two saves is refused when it is loaded.
 *  errors  MW_ERROR_ARGUMENT if the trainer's graph has no adapter */
MW_API mw_status mw_trainer_save_lora(mw_trainer *trainer, const char *folder, mw_error *err);

/** Reads parameters, frozen weights and the states that evaluation reads from any file that mw_tensors_open takes. A
 *  tensor is found by its name, as the options change it; failing that by a name that differs in dots and underscores
 *  only, as a program's text has none of PyTorch's dots, if that is one tensor. Values are converted under the rule of
 *  mw_program_write and must be finite. All of it goes in, or after an error nothing does. Weights that are constants
 *  of the program are no part of it: mw_graph_load_weights gives them values before the program is made.
 *  A folder with adapter_config.json is an adapter, as mw_trainer_save_lora or PEFT writes it; the graph has adapters
 *  of the same rank and alpha (mw_graph_lora). Symbolic links in it are followed under the rules of <millwright/mil.h>
 *  for a model. Any other folder is what mw_tensors_open takes.
 *  options  NULL = mw_weights_defaults(). An adapter takes no option: its names say what they belong to
 *  errors   MW_ERROR_ARGUMENT for two tensors of one name, or no tensor that fits anything;
 *           MW_ERROR_FORMAT for parameters that are missing (the message lists some), a shape that differs, a
 *           damaged file; those of mw_tensors_open and mw_tensors_read.
 *           Of an adapter: MW_ERROR_ARGUMENT for options, and if there is no adapter in the graph; MW_ERROR_FORMAT if
 *           adapter_config.json is not strict JSON (a name twice in one object, text after its end), or has another
 *           alpha or r; MW_ERROR_UNSUPPORTED for a setting that changes the meaning of the numbers: a peft_type other
 *           than LORA, a bias other than "none", use_rslora, use_dora, fan_in_fan_out, a pattern of ranks or alphas, an
 *           initialization that changes the weights under the adapters, modules_to_save that the trainer does not
 *           train, and an unknown key with a value other than null, false, {} or [] */
MW_API mw_status mw_trainer_load_weights(mw_trainer *trainer, const char *path, const mw_weights_options *options,
                                         mw_error *err);
/** Reads weights into a program, as mw_trainer_load_weights into a trainer. States that the program itself does not
 *  write may be missing, unless options->base is set.
 *  errors  as mw_trainer_load_weights; MW_ERROR_ARGUMENT if the program has no parameter */
MW_API mw_status mw_program_load_weights(mw_program *program, const char *path, const mw_weights_options *options,
                                         mw_error *err);
/** A copy of "main" whose weights have the values of the file: the constants that mw_graph_weights shows with a role,
 *  what parameters and states start with. So come base weights under the adapters of a program that was read:
 *
 *      mw_graph *base = mw_graph_load_weights(source, "base.safetensors", NULL, &err);
 *      mw_graph *graph = mw_graph_lora(base, &lora, &err);
 *
 *  Constants that were compressed become dense ones. With options->compressed quantized blocks stay as the file has
 *  them; a parameter that gets some becomes a constant of its name.
 *  path     as mw_trainer_load_weights, but no adapter
 *  options  NULL = mw_weights_defaults(). States may be missing, unless options->base is set
 *  return   owned by the caller, by the allocator of the source; NULL with err set on failure
 *  errors   as mw_trainer_load_weights and, with options->compressed, mw_tensors_constant; MW_ERROR_STATE for a
 *           program whose other weights were not read; the graph's own first error */
MW_API mw_graph *mw_graph_load_weights(const mw_graph *source, const char *path, const mw_weights_options *options,
                                       mw_error *err);

/* ---- weights that take less ----
 *
 *     mw_compress_options options = mw_compress_defaults(MW_WEIGHTS_I8);
 *     options.report = print_error;                                     // of each tensor
 *     mw_graph *small = mw_graph_compress(graph, &options, &err);
 *     mw_graph_write(small, "Small.mlpackage", NULL, &err);
 *
 * A copy of a program whose large constants are stored in fp16, int8 or a palette computes as before, with constants
 * that differ a little: each is expanded to its old type where it is used (constexpr_cast,
 * constexpr_affine_dequantize, constexpr_blockwise_shift_scale, constexpr_lut_to_dense of MIL, which Core ML and the
 * engine keep as they are stored). It is written, compiled and read like any other program. */

/** How weights are stored. */
typedef enum mw_weight_form {
    MW_WEIGHTS_F16 = 1, /* fp32 rounded to fp16; fp16 stays */
    MW_WEIGHTS_I8,      /* q = round(w / s) in [-127, 127], s = max |w| / 127 of each index of the first axis (of the
                         * whole tensor, if it has one axis) */
    MW_WEIGHTS_PALETTE  /* an index of `bits` bits into a table of each tensor, made by k-means in one dimension */
} mw_weight_form;

/** What became of a constant. */
typedef struct mw_compress_choice {
    const char *name; /* of the constant, "" if it has none; valid during the call */
    mw_shape shape;
    mw_dtype dtype;
    size_t size_before, size_after; /* bytes; equal: it stayed as it was */
    double largest_error;           /* max |stored - w| */
    double relative_error;          /* sqrt(sum (stored - w)^2 / sum w^2) */
    const char *reason;             /* why it stayed, or NULL */
} mw_compress_choice;

typedef void mw_compress_report(void *user, const mw_compress_choice *choice);

/** What to do. Fill with mw_compress_defaults. */
typedef struct mw_compress_options {
    size_t struct_size;
    mw_weight_form form;
    int bits;                   /* of a palette: 1, 2, 4, 6 or 8; default 4 */
    int64_t least_elements;     /* from 1; smaller constants stay; default 2048 */
    mw_compress_report *report; /* told of each fp16 or fp32 constant of that size, in the order of the program */
    void *report_user;
} mw_compress_options;

/** Returns options with everything else at its default. */
MW_API mw_compress_options mw_compress_defaults(mw_weight_form form);

/** A copy of "main" (or the only function) with its constants compressed. Constants that are compressed already, that
 *  are not finite, or that fp16 does not hold, stay.
 *  return  owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors  the graph's own first error; MW_ERROR_ARGUMENT for options out of range; MW_ERROR_UNSUPPORTED for a program
 *          of ios15, which has no such constants; MW_ERROR_STATE for one whose weights were not read */
MW_API mw_graph *mw_graph_compress(const mw_graph *graph, const mw_compress_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
