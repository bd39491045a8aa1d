/* How graphs are compiled, by themselves (program.h), as models (model.h) or as the steps of a trainer: the device, the
 * generation of the chip, threads, the cache, and whose memory weights are in.
 *
 *     mw_compile_options options = mw_compile_defaults();
 *     options.device = MW_DEVICE_ANE;
 *     options.threads = 2;
 *     mw_program *program = mw_program_create(graph, &options, &err);
 *
 * Threads: these are plain values; every function here may be called from any thread at any time. */
#ifndef MILLWRIGHT_COMPILE_H
#define MILLWRIGHT_COMPILE_H

#include <millwright/passes.h>
#include <millwright/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a program runs: e5rt's device mask. */
typedef enum mw_device {
    MW_DEVICE_AUTO = 0, /* the ANE on a Mac, the CPU elsewhere */
    MW_DEVICE_CPU = 1,
    MW_DEVICE_GPU = 2, /* Espresso only */
    MW_DEVICE_ANE = 4  /* on the engine: the model of the ANE's arithmetic (docs/chip.md) */
} mw_device;

/** Generation of the ANE. Its limits depend on it: up to MW_CHIP_H15 an axis has at most 16384 elements, from
 *  MW_CHIP_H16 on 65536. Longer axes, e.g. of a vocabulary, are cut into blocks where every operation on them can be.
 *  What a named chip lacks is written from what it has, or refused by name (docs/chip_legality.md has the rules,
 *  mw_chip_report_create lists those that hold).
 *  source  ANEForge, limits by chip */
typedef enum mw_chip {
    MW_CHIP_AUTO = 0,  /* every generation that runs MIL */
    MW_CHIP_H11 = 11,  /* before M1: runs no MIL, so nothing is compiled for it */
    MW_CHIP_H12 = 12,  /* likewise */
    MW_CHIP_H13 = 13,  /* M1 */
    MW_CHIP_H14 = 14,  /* M2 */
    MW_CHIP_H15 = 15,  /* M3 */
    MW_CHIP_H16 = 16,  /* M4 */
    MW_CHIP_H17 = 17,  /* M5 */
    MW_CHIP_H18 = 18,  /* after M5: known by name, with the limits of M4 and M5 */
    MW_CHIP_H18G = 19, /* M6, measured; two engines */
    MW_CHIP_H19 = 20   /* after M6: known by name, with the limits of M6 */
} mw_chip;

/** Which library is behind the e5rt symbols. */
typedef enum mw_provider {
    MW_PROVIDER_AUTO = 0, /* Espresso on a Mac, the engine elsewhere */
    MW_PROVIDER_ENGINE = 1,
    MW_PROVIDER_ESPRESSO = 2
} mw_provider;

/** Parameters and states in the memory of another object, the lender: what both have by the same name is there once,
 *  without a copy. It keeps its present values; initializers are not used for it. At most one member is set.
 *
 *  Lender and borrowers may be destroyed in any order: the memory goes with the last of them. The allocator of the
 *  lender must stay until then.
 *
 *  `trainer` lends all its parameters and model states.
 *    - To a trainer: what a step of one writes, the other reads (docs/training.md). Groups, optimizer states, averages
 *      and loss scale belong to each trainer alone.
 *    - To a program: it reads them on the device. It writes one of them if an output is joined with it
 *      (mw_program_alias). So a policy acts while it is trained, and a target network follows. A program made
 *      while the trainer uses its averages (mw_trainer_use_averages) has these in the place of the parameters.
 *    - Make one call at a time on the lender and all that borrow from it, as if they were one object. Between the steps
 *      of mw_trainer_fit on one of them, its progress callback may use the others.
 *
 *  `program` lends to programs alone: parameters, and states that neither graph changes. A tensor of another type or
 *  shape is not shared. What is written to one program is in all of them. None of them may run while it is written.
 *
 *  errors  of the call that makes the borrower: MW_ERROR_ARGUMENT if both members are set, if there is nothing to
 *          share, for `program` in the options of a trainer, and for `trainer` in those of a trainer with a
 *          communicator of several ranks; MW_ERROR_DTYPE or MW_ERROR_SHAPE if a tensor differs from that of the same
 *          name in `trainer`; MW_ERROR_UNSUPPORTED if the lender is a rank of several, a program of a trainer
 *          (mw_trainer_program), or on another e5rt library, and if the shapes of lender or borrower are chosen
 *          (mw_program_set_shapes); MW_ERROR_STATE if the lender is destroyed, or if `trainer` is in a call */
typedef struct mw_share {
    struct mw_trainer *trainer; /* NULL = none */
    struct mw_program *program; /* NULL = none; not for trainers */
} mw_share;

/** How to compile. Fill with mw_compile_defaults. */
typedef struct mw_compile_options {
    size_t struct_size; /* set by mw_compile_defaults */
    mw_device device;
    mw_provider provider;
    int threads;                   /* of the engine; 0 = one per processor; results depend on it */
    uint64_t seed;                 /* initial parameters */
    const mw_allocator *allocator; /* NULL = the C library's heap */
    const char *keep_folder;       /* not NULL: model.mil and weights are left there for reading; of a program whose
                                    * shapes are chosen, in plan-1, plan-2 .. below it */
    mw_chip chip;                  /* generation of the ANE */
    bool strict;                   /* a constant that fp16 does not hold is refused, not replaced (mw_warning) */
    const char *function;          /* of the graph; NULL = "main", or the only one. Not for trainers */
    const char *profile;      /* arithmetic of the engine's model of the ANE: "h13" to "h17", "h18g", "ieee", or one
                               * with switches, "h13,product_tiles,-wide_chains" (docs/chip.md). NULL = that of
                               * `chip`; of MW_CHIP_AUTO h17. MW_ENGINE_PROFILE of the environment goes before it */
    int max_plans;            /* of a program whose shapes are chosen (mw_program_set_shapes): how many plans are
                               * kept, 1 to 1024; beyond that the one goes that was used least recently. 0 = 8 */
    mw_share share;           /* parameters and states in the memory of another trainer or program */
    bool flush_subnormals;    /* fp32 below 2^-126 counts as 0 in arithmetic on the engine's CPU. What vanishes over
                               * hundreds of steps in time, such as gradients, otherwise takes many times longer.
                               * Without effect on the ANE, whose model keeps to its profile, and on Espresso */
    mw_passes passes;         /* what is left out, and who hears of the passes */
    const char *cache_folder; /* not NULL: what is compiled is kept there, and taken from there if it was compiled
                               * before (docs/cache.md); made if it is missing. A path of less than 1024 bytes */
    bool exact_convolution;   /* convolutions of fp32 on the engine's CPU add the products themselves. Without it those
                               * of 3 x 3 may be computed by Winograd's way, in half the time and with two to three
                               * times the rounding error (docs/numerics.md), as MW_ENGINE_EXACT_CONVOLUTION=0 has it,
                               * which goes before it. Without effect on the ANE, whose model always adds them, and on
                               * Espresso */
} mw_compile_options;

/** Returns the default options. */
MW_API mw_compile_options mw_compile_defaults(void);

#ifdef __cplusplus
}
#endif
#endif
