/* Programs: a graph compiled for a device, with named ports.
 *
 *     mw_program *program = mw_program_create(graph, NULL, &err);
 *     mw_program_write(program, "x", MW_F32, x, 128 * 784, &err);
 *     mw_program_run(program, &err);
 *     mw_program_read(program, "y", MW_F32, y, 128 * 10, &err);
 *
 * The graph is lowered to MIL text and compiled through the e5rt interface: Espresso.framework on a Mac, Millwright's
 * own engine elsewhere. A program never points into its graph.
 *
 * Threads: calls on one program come one at a time, from any thread, and a second one meanwhile is MW_ERROR_STATE;
 * different programs may run at the same time. What asks for ports, warnings or text may be called while it runs. */
#ifndef MILLWRIGHT_PROGRAM_H
#define MILLWRIGHT_PROGRAM_H

#include <millwright/compile.h>
#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_program mw_program;

/** Compiles the outputs of the graph (mw_output). Parameters and states become input ports that hold their
 *  initial values. A state<tensor> of a program that was read is such a port, too: it starts at zero, each run leaves
 *  there what it wrote last, and it can be read and written between runs; its program needs a shape for every input.
 *  Loops run as long as they say: nothing interrupts mw_program_run.
 *  Of a program whose inputs have `?` extents, what the default shapes ask for (mw_graph_admitted_shapes) is compiled;
 *  the rest when shapes are chosen, see mw_program_set_shapes.
 *  errors  the graph's own first error; MW_ERROR_UNSUPPORTED naming what the device cannot do, or an operation whose
 *          extents depend on what is computed when the program runs; MW_ERROR_ARGUMENT if the graph has no output, or
 *          no function of that name; MW_ERROR_NUMERIC for an integer constant that the device does not have, and, with
 *          options->strict, for any constant that mw_warning would list */
MW_API mw_program *mw_program_create(const mw_graph *graph, const mw_compile_options *options, mw_error *err);

/** Frees the program and its buffers; twice, or while it runs, as mw_trainer_destroy. NULL is fine. */
MW_API void mw_program_destroy(mw_program *program);

/* ---- shapes that are chosen ----
 *
 *     mw_input_shape shapes[] = {{"tokens", MW_SHAPE(1, 7)}, {"mask", MW_SHAPE(1, 7)}};
 *     mw_program_set_shapes(program, shapes, 2, &err);
 *     mw_program_write(program, "tokens", MW_I32, tokens, 7, &err); ..
 *
 * A program whose inputs have `?` extents runs with one shape for each input at a time. Each choice of shapes has its
 * own plan. A plan is made when it is first needed, and kept (options.max_plans): choosing the same shapes again costs
 * almost nothing. Parameters, states and every port with only one shape keep their values when you choose shapes. An
 * input that keeps its shape keeps its values, too. An input that gets another shape holds zeros until it is written.
 *
 * A small integer input (at most 64 elements) can decide extents by its values, for example the shape of a reshape. Its
 * values are then part of the choice: mw_program_run takes, or makes, the plan for the values that the input holds.
 * Write this input first: before that, only shapes can be queried. The results have the extents of the last run; before
 * the first run these are MW_DIM_UNKNOWN. A run with an existing plan allocates nothing on the engine; a run that makes
 * a plan compiles.
 *
 * What a program lends (mw_program_view, mw_program_get_info, warnings) belongs to the plan. It is valid until the
 * shapes are chosen again, or a run takes another plan. No thread may query ports while another one chooses shapes, or
 * while a program runs whose plan depends on values. */

/** Chooses shapes of inputs, all that are named in one call; the others keep theirs. At once the ports have the new
 *  extents, results too, and the plan is made, unless an input with `?` has no shape yet, or one whose values decide
 *  has not been written: then running, reading, writing and viewing are MW_ERROR_STATE, naming that input.
 *  At first inputs have their default shapes, if the program says any, else `?` (MW_DIM_UNKNOWN).
 *  shapes  each admitted (mw_graph_admitted_shapes), with no `?`; a shape that the input has already is fine
 *  errors  MW_ERROR_ARGUMENT for an input that is not there or named twice; MW_ERROR_SHAPE for a shape that is not
 *          admitted (the message says what is), and if the operations do not fit the shapes; those of
 *          mw_program_create. After an error the program has the shapes and the plan that it had */
MW_API mw_status mw_program_set_shapes(mw_program *program, const mw_input_shape *shapes, size_t count, mw_error *err);

/* ---- ports and runs ---- */

/** Copies host data into an input port, converting from `dtype` to the port's type. One rule holds for every way by
 *  which values enter (feeds of a trainer too):
 *   - what the graph declares as an integer takes integers only, those that the port holds exactly: 2049 does not enter
 *     an fp16 port, nor 3000000000 an int32 one. Labels and the indices of mw_embedding must lie in their range;
 *   - an integer goes into a floating-point port exactly or not at all (given as float, or with a scale or offset that
 *     is not whole, it is a number like any other; but not if the program casts the port to integers);
 *   - any other number is rounded once, to nearest; one that is finite stays so: 70000 does not enter an fp16 port,
 *     INFINITY does.
 *  dtype   F64, F32, F16, BOOL, or an integer of 8 to 64 bits
 *  count   elements; must be the port's
 *  errors  MW_ERROR_ARGUMENT for an unknown port (the message lists the ports) and for a value that the rule refuses,
 *          MW_ERROR_NUMERIC for a finite one that would become infinite (both name port, element and value; the port
 *          keeps what it holds), MW_ERROR_SHAPE for a wrong count, MW_ERROR_DTYPE for another type */
MW_API mw_status mw_program_write(mw_program *program, const char *port, mw_dtype dtype, const void *data, size_t count,
                                  mw_error *err);

/** Copies a port's elements to the host, converted to `dtype` under the same rule; not to U32 or U64. Inputs can be
 *  read, too. */
MW_API mw_status mw_program_read(mw_program *program, const char *port, mw_dtype dtype, void *out_data, size_t count,
                                 mw_error *err);

/** The port's own memory, in the type that mw_program_port_at reports; valid until the program is destroyed or takes
 *  another plan. Reading or writing it during mw_program_run is a race. What is written here is not checked. */
MW_API void *mw_program_view(mw_program *program, const char *port, mw_error *err);

/* ---- weights that are exchanged ----
 *
 *     mw_graph *adapted = mw_graph_lora(model, &lora, &err);              // or mw_graph_trainable: which weights
 *     mw_program *program = mw_program_create(adapted, NULL, &err);
 *     mw_program_load_weights(program, "adapters/french", NULL, &err);
 *     mw_program_run(program, &err);
 *     mw_program_load_weights(program, "adapters/legal", NULL, &err);     // no compile, and the base stays where it is
 *
 * Parameters are inputs that keep their values, so other weights need no other program. With options.share.program
 * several programs, one for each batch size, say, have one set of weights: what is written to one is in all. They must
 * not run while it is written. The memory lives until the last of them is destroyed, in any order. */

/** Values of a parameter. */
typedef struct mw_weight_values {
    const char *name; /* of the parameter, or of a state that starts with a value */
    mw_dtype dtype;   /* of data */
    const void *data;
    size_t count; /* elements; must be the parameter's */
} mw_weight_values;

/** Gives parameters new values: all of them, or after an error none. As mw_program_write converts, but every value is
 *  finite.
 *  errors  those of mw_program_write; MW_ERROR_ARGUMENT for a port that is no parameter, or a name given twice;
 *          MW_ERROR_NUMERIC for a value that is not finite */
MW_API mw_status mw_program_set_weights(mw_program *program, const mw_weight_values *values, size_t count,
                                        mw_error *err);

/** Runs once, and returns when the outputs are written. Allocates nothing on the engine, unless it makes a plan. */
MW_API mw_status mw_program_run(mw_program *program, mw_error *err);

/** Makes the output port write into the buffer of the input port, so that it is the next run's input. Before the first
 *  run only. A run behaves as if all inputs were read before any output is written.
 *  errors  MW_ERROR_SHAPE if the ports differ in size, MW_ERROR_STATE after the first run */
MW_API mw_status mw_program_alias(mw_program *program, const char *output, const char *input, mw_error *err);

/** What a port is. Strings live as long as the program. Extents that are still to be chosen are MW_DIM_UNKNOWN. */
typedef struct mw_port {
    const char *name;     /* the user's name */
    const char *mil_name; /* its name in the MIL text; the first, where the device holds it in parts: blocks of an axis
                           * that is too long for the chip, or two digits of integers beyond 2048, which fp16 lacks */
    mw_dtype dtype;       /* in memory; F16 on fp16 devices, I32 for integers in digits */
    mw_shape shape;
    bool is_output;
    bool is_parameter; /* or a state: starts with a value of its own */
} mw_port;

/** Fills *out_port with port `index`, inputs first, then outputs; false past the last (port_count of
 *  mw_program_get_info). */
MW_API bool mw_program_port_at(const mw_program *program, size_t index, mw_port *out_port);

/* ---- classifiers ----
 *
 *     mw_label label;
 *     mw_program_run(program, &err);
 *     mw_program_label(program, "classLabel", &label, &err);
 *     puts(label.name);                                                    // "cat"
 *
 * A program with classify (mw_classify) gives int32 [], the index of the largest probability, where the text says a
 * label, and fp32 [n] (fp16 on fp16 devices), the probabilities in the order of the classes, where it says a
 * dictionary. */

/** The labels of a port of a classifier: of the values that its label can have, or of the elements of its
 *  probabilities.
 *  out     zeroed on failure; what it points to lives as long as the program
 *  errors  MW_ERROR_ARGUMENT if the port is none of the two (the message lists them) */
MW_API mw_status mw_program_classes(const mw_program *program, const char *port, mw_classes *out, mw_error *err);

/** A label, as it was predicted. */
typedef struct mw_label {
    int64_t index;    /* of its class */
    const char *name; /* lives as long as the program; NULL if labels are numbers */
    int64_t number;   /* 0 if labels are names */
} mw_label;

/** Reads what the last run predicted.
 *  port    of a label
 *  out     zeroed on failure
 *  errors  MW_ERROR_ARGUMENT if the port is no label; those of mw_program_read */
MW_API mw_status mw_program_label(mw_program *program, const char *port, mw_label *out, mw_error *err);

/** A constant that fp16 does not hold, on a device that computes in fp16, and what replaces it. Example: -3.4e38
 *  becomes -65504.
 *    - A constant beyond 65504 (in a mask, for example) becomes 65504 with its sign. If it is added to something, it
 *      becomes 32752 with its sign, so that the sum is finite too: a row of scores that is masked completely keeps
 *      finite numbers.
 *    - A scalar that would be 0 (an epsilon of 1e-12) becomes 2^-24, the smallest number of fp16, with its sign. If it
 *      keeps a divisor from being 0, it becomes 2^-14, so that the quotient is finite.
 *  Infinities stay, and so does the default of an epsilon.
 *  A warning of count 0 is an operation that gives 0 for large numbers on that device, without an infinity that would
 *  show it: softplus from 11.09 on (and mish, which uses it), a square of more than 255.9 whose mean or root divides
 *  (rms_norm, a norm written out by hand), an exponential that is divided by a sum of such exponentials (a softmax
 *  written out by hand) or whose logarithm is taken. `value` is the number from which on this happens. Most of these
 *  are written in a form that is right (docs/chip.md, "Large and small inputs"); the warning is of what is not, or was
 *  left out by its name (mw_passes). There is no warning if the numbers are bounded (clip, minimum, tanh ..). There is
 *  none for gradients and updates either: a trainer refuses a step in which they are infinite.
 *  The log hook gets one line of each kind for each program that has warnings.
 *  Strings live as long as the program. */
typedef struct mw_warning {
    const char *operation; /* MIL name of the first operation that reads the constant: "clip" */
    const char *argument;  /* as what: "alpha" */
    const char *tensor;    /* name of the constant, or of what the operation makes; may be "" */
    double value;          /* the first of its elements that fp16 does not hold */
    double replaced_by;
    size_t count;        /* of its elements that were replaced; 0 = of an operation */
    const char *message; /* all of this as a sentence */
} mw_warning;

/** Fills *out_warning with warning `index`; false past the last (warning_count of mw_program_get_info). */
MW_API bool mw_program_warning_at(const mw_program *program, size_t index, mw_warning *out_warning);

/** What a program is as a whole. Strings live as long as the program, or its plan. */
typedef struct mw_program_info {
    size_t port_count;    /* of mw_program_port_at */
    size_t warning_count; /* of mw_program_warning_at */
    const char *where;    /* what runs it: "engine, CPU (fp32), 2 threads" or the like */
    const char *mil;      /* the MIL text that it runs; "" while shapes are to be chosen */
} mw_program_info;

/** What the program is now. For NULL both numbers are 0 and both strings "". */
MW_API mw_program_info mw_program_get_info(const mw_program *program);

/** Where an operation of the text runs, and why. Strings live as long as the program, or its plan. */
typedef struct mw_placement {
    const char *operation; /* MIL name: "matmul" */
    const char *tensor;    /* name of its first result in the text */
    const char *provider;  /* the library that runs it, as mw_program_info.where begins */
    mw_device device;      /* never AUTO */
    const char *reason;    /* why there: what the device mask allows, and what the library says of it */
    const char *elsewhere; /* why not on the ANE: the first rule of the chip that refuses it (docs/chip_legality.md);
                            * NULL if it is there, or none does */
} mw_placement;

/** Fills *out with the place of operation `index` of the text, without constants; false past the last, and while shapes
 *  are to be chosen. The first call reads the text again. A device mask of one bit leaves no choice: all of the program
 *  runs where it says, or is refused. */
MW_API bool mw_program_placement_at(const mw_program *program, size_t index, mw_placement *out);

#ifdef __cplusplus
}
#endif
#endif
