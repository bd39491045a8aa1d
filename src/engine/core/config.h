/* How the engine is configured: by the environment and the processor, which are read when a compiler is created, and by
 * what e5rt_mw_e5_compiler_config_options_set_variable has set before. The struct travels with each compile, so two
 * compilers of one process may differ; no kernel and no pass asks the environment or the processor. */
#ifndef MW__ENGINE_CORE_CONFIG_H
#define MW__ENGINE_CORE_CONFIG_H

#include "passes/rule.h"
#include "rules/arithmetic.h"

#include <stdbool.h>
#include <stdint.h>

/* Code for an instruction set; each level has what those before it have. */
typedef enum mw__level {
    MW__LEVEL_REF,   /* plain loops and libm; MW_ENGINE_REF=1 */
    MW__LEVEL_BASE,  /* vector code for the oldest processor of the architecture; MW_ENGINE_WIDE=0 */
    MW__LEVEL_AVX2,  /* AVX2 and FMA; MW_ENGINE_WIDE=256: nothing above it */
    MW__LEVEL_AVX512 /* AVX-512 F, BW, DQ, VL */
} mw__level;

#define MW__LEVELS 4

/* "ref", "base", "avx2", "avx512" */
const char *mw__level_name(mw__level level);

/* What counts against the limit of 128 that a process has on the ANE. */
typedef enum mw__loaded_unit { MW__LOADED_OPERATIONS, MW__LOADED_PROGRAMS, MW__LOADED_NONE } mw__loaded_unit;

/* How products are added up: as the processor likes, or as a chip does, which every product of a program then does. */
typedef enum mw__sums {
    MW__SUMS_FREE,
    MW__SUMS_PLAIN, /* as FREE, by the code that knows int8 numbers */
    MW__SUMS_FOURS, /* kernels/gemm/gemm_chip.h; the level is that of the reference */
    MW__SUMS_FIXED  /* kernels/gemm/gemm_fixed.h; they may begin with a bias */
} mw__sums;

/* What is compiled differently by a member must be known by it: engine/cache/key.c. */
typedef struct mw__config {
    mw__level level;        /* the highest that the processor has and the variables allow */
    bool avx512f;           /* the processor has at least this of AVX-512, and may use it */
    bool reference;         /* MW_ENGINE_REF */
    bool fuse;              /* MW_ENGINE_FUSE */
    bool exact;             /* MW_ENGINE_EXACT_CONVOLUTION, or the model of the ANE: no way that approximates */
    bool fold;              /* MW_ENGINE_FOLD: the passes recognize and absorb */
    unsigned width;         /* MW_ENGINE_WIDE: of vectors, at most; bits */
    uint64_t threads;       /* MW_ENGINE_THREADS; 0 = as the compile options say */
    double wake;            /* MW_ENGINE_WAKE: estimated ns from which a run wakes the worker team */
    mw__arithmetic profile; /* MW_ENGINE_PROFILE: of the ANE model */
    char profile_text[MW__ARITHMETIC_TEXT];
    bool profile_given;        /* by a variable; else the chip that a compile names has its own */
    mw__arithmetic arithmetic; /* of what is compiled: the profile, or none on the CPU */
    uint64_t pack;             /* MW_ENGINE_PACK: bytes of expanded weights from which they stay as they are stored */
    mw__loaded_unit loaded;    /* MW_ENGINE_LOADED */
    bool flush;                /* MW_ENGINE_SUBNORMALS: arithmetic on the CPU takes and gives 0 for them */
    bool unsound_streams;      /* MW_ENGINE_STREAMS: on the ANE, of streams in flight the first alone notifies */
    uint64_t cache_bytes;      /* MW_ENGINE_CACHE_BYTES, MW_ENGINE_CACHE_ENTRIES: what a cache holds at most */
    uint64_t cache_entries;
    mw__rule_set off; /* MW_PASSES_OFF: passes and rules that are left out */
    char blas[1024];  /* MW_BLAS; empty = not set. Of a longer one the rest is missing, and it is not found */
} mw__config;

mw__sums mw__config_sums(const mw__config *config);

/* What holds where nothing is set. */
void mw__config_init(mw__config *config);

/* MW_ERROR_ARGUMENT if `name` is no variable of the engine or `value` none of its values (docs/environment.md); a value
 * of NULL or "" changes nothing. */
mw_status mw__config_set(mw__config *config, const char *name, const char *value, mw_error *err);

/* Sets what the environment sets, over what is there. MW_ERROR_ARGUMENT for the first value that is malformed. */
mw_status mw__config_read_environment(mw__config *config, mw_error *err);

#endif
