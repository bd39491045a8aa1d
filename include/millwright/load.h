/* Weights from any file of tensors into a trainer, a program or a graph that is there: a part of them, under other
 * names, beside a new head, or under adapters.
 *
 *     const mw_load_prefix names[] = {{"module.", ""}};
 *     mw_load_options options = mw_load_defaults();
 *     options.prefixes = names;
 *     options.prefix_count = 1;
 *     options.new_heads = true;                            // the last layer has another number of classes
 *     mw_trainer_load_tensors(trainer, "resnet.pt", &options, &err);
 *
 * mw_trainer_load_weights and mw_program_load_weights are the calls for files of our own: every parameter, by its own
 * name, or nothing. docs/tensors.md lists the formats.
 *
 * Threads: as the trainer or the program. */
#ifndef MILLWRIGHT_LOAD_H
#define MILLWRIGHT_LOAD_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_trainer mw_trainer;
typedef struct mw_program mw_program;

/** A tensor whose name begins with `from` stands for the parameter `to` + the rest of the name. */
typedef struct mw_load_prefix {
    const char *from, *to;
} mw_load_prefix;

/** The name in the model of a tensor of the file; NULL = it is not wanted. What is returned is copied before the next
 *  call. */
typedef const char *mw_load_name(void *user, const char *tensor);

/** What became of a parameter, or of a tensor. */
typedef enum mw_load_outcome {
    MW_LOAD_TAKEN,   /* the parameter has the values of the tensor */
    MW_LOAD_MISSING, /* the file has no tensor for the parameter, which keeps its values */
    MW_LOAD_SHAPE,   /* the tensor has another shape; the parameter keeps its values */
    MW_LOAD_UNUSED   /* no parameter takes the tensor */
} mw_load_outcome;

typedef struct mw_load_choice {
    mw_load_outcome outcome;
    const char *parameter; /* NULL for MW_LOAD_UNUSED */
    const char *tensor;    /* its name in the file; NULL for MW_LOAD_MISSING */
    mw_shape shape;        /* of the parameter, or of the unused tensor */
    mw_shape there;        /* of the tensor */
} mw_load_choice;

/** Told of every parameter and then of every tensor that is left, before anything is read or refused. The choice is
 *  valid during the call. */
typedef void mw_load_report(void *user, const mw_load_choice *choice);

/** How to load. Fill with mw_load_defaults. Pointers are read during the call only. */
typedef struct mw_load_options {
    size_t struct_size;
    const mw_load_prefix *prefixes; /* the first that fits a name counts; a name that none fits stays as it is */
    size_t prefix_count;
    mw_load_name *name; /* NULL = none; is given what the prefixes made of the name */
    void *name_user;
    bool partial;    /* parameters that the file lacks keep their values; else they are an error */
    bool new_heads;  /* so do those of another shape */
    bool base;       /* the factors of adapters (mw_graph_lora) keep theirs: the file has the weights under them */
    bool compressed; /* of a graph: quantized blocks of the file stay so (mw_tensors_constant) */
    mw_load_report *report; /* NULL = none */
    void *report_user;
} mw_load_options;

/** Returns options with everything off. */
MW_API mw_load_options mw_load_defaults(void);

/** Reads parameters, frozen weights and the states that evaluation reads from any file that mw_tensors_open takes. A
 *  tensor is found by its name, as the options change it; failing that by a name that differs in dots and underscores
 *  only, as a program's text has none of PyTorch's dots, if that is one tensor. Values are converted under the rule of
 *  mw_program_write and must be finite. All of it goes in, or after an error nothing does. Weights that are constants
 *  of the program are no part of it: mw_graph_load_tensors gives them values before the program is made.
 *  errors  MW_ERROR_ARGUMENT for two tensors of one name, or no tensor that fits anything;
 *          MW_ERROR_FORMAT for parameters that are missing (the message lists some), a shape that differs, a
 *          damaged file; those of mw_tensors_open and mw_tensors_read */
MW_API mw_status mw_trainer_load_tensors(mw_trainer *trainer, const char *path, const mw_load_options *options,
                                         mw_error *err);
/** The same for a program. States that the program itself does not write may be missing, unless options->base is set.
 *  errors  as mw_trainer_load_tensors; MW_ERROR_ARGUMENT if the program has no parameter */
MW_API mw_status mw_program_load_tensors(mw_program *program, const char *path, const mw_load_options *options,
                                         mw_error *err);
/** A copy of "main" whose weights have the values of the file: the constants that mw_graph_weights shows with a role,
 *  what parameters and states start with. So come base weights under the adapters of a program that was read:
 *
 *      mw_graph *base = mw_graph_load_tensors(source, "base.safetensors", NULL, &err);
 *      mw_graph *graph = mw_graph_lora(base, &lora, &err);
 *
 *  Constants that were compressed become dense ones. With options->compressed quantized blocks stay as the file has
 *  them; a parameter that gets some becomes a constant of its name.
 *  options  NULL = mw_load_defaults(). States may be missing, unless options->base is set
 *  return   owned by the caller, by the allocator of the source; NULL with err set on failure
 *  errors   as mw_trainer_load_tensors and, with options->compressed, mw_tensors_constant; MW_ERROR_STATE for a
 *           program whose other weights were not read; the graph's own first error */
MW_API mw_graph *mw_graph_load_tensors(const mw_graph *source, const char *path, const mw_load_options *options,
                                       mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
