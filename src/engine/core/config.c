/* The variables of the engine, a row each, and what the processor has. */
#include "engine/core/config.h"

#include "base/environment.h"
#include "base/number/number.h"
#include "base/text/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAKE_COST 20000.0 /* ns: what it takes to wake a team, measured on several machines */

/* What small models take is not worth the time that expanding them in each run costs. */
#define PACK_BYTES ((uint64_t)16 << 20)

#define CACHE_BYTES   ((uint64_t)1 << 30)
#define CACHE_ENTRIES 256

/* A value is one of `values`, or a whole number from `least` on where there is no list, or any text without a rule. */
typedef struct variable_row {
    const char *name;
    const char *values[4];
    uint64_t least;
    const char *rule;
    mw_status (*check)(const char *text, mw_error *err); /* says by itself what is wrong; NULL: none */
    void (*set)(mw__config *config, const char *text);
} variable_row;

static uint64_t number_of(const char *text)
{
    uint64_t number = 0;
    mw__number_read_u64(text, strlen(text), &number);
    return number;
}

static void set_threads(mw__config *config, const char *text) { config->threads = number_of(text); }
static void set_wake(mw__config *config, const char *text) { config->wake = (double)number_of(text); }
static void set_reference(mw__config *config, const char *text) { config->reference = text[0] == '1'; }
static void set_width(mw__config *config, const char *text) { config->width = (unsigned)number_of(text); }
static void set_fuse(mw__config *config, const char *text) { config->fuse = text[0] == '1'; }
static void set_exact(mw__config *config, const char *text) { config->exact = text[0] == '1'; }
static void set_fold(mw__config *config, const char *text) { config->fold = text[0] == '1'; }

static void set_pack(mw__config *config, const char *text) { config->pack = number_of(text); }

static void set_loaded(mw__config *config, const char *text)
{
    config->loaded = text[0] == 'o' ? MW__LOADED_OPERATIONS : text[0] == 'p' ? MW__LOADED_PROGRAMS : MW__LOADED_NONE;
}

static void set_subnormals(mw__config *config, const char *text) { config->flush = text[0] == 'f'; }

static void set_streams(mw__config *config, const char *text) { config->unsound_streams = text[0] == 'u'; }

static void set_cache_bytes(mw__config *config, const char *text) { config->cache_bytes = number_of(text); }
static void set_cache_entries(mw__config *config, const char *text) { config->cache_entries = number_of(text); }

static void set_profile(mw__config *config, const char *text)
{
    mw__arithmetic_parse(text, &config->profile, NULL);
    config->profile_given = true;
    snprintf(config->profile_text, sizeof config->profile_text, "%s", text);
}

static mw_status check_profile(const char *text, mw_error *err)
{
    mw__arithmetic ignored;
    return mw__arithmetic_parse(text, &ignored, err);
}

static void set_blas(mw__config *config, const char *text) { snprintf(config->blas, sizeof config->blas, "%s", text); }

static void set_off(mw__config *config, const char *text) { mw__pass_set_parse(&config->off, "", text, NULL); }

static mw_status check_off(const char *text, mw_error *err)
{
    mw__rule_set ignored = {0};
    return mw__pass_set_parse(&ignored, "MW_PASSES_OFF", text, err);
}

static const variable_row rows[] = {
    {.name = "MW_ENGINE_THREADS", .least = 1, .rule = "a number above 0", .set = set_threads},
    {.name = "MW_ENGINE_WAKE", .least = 0, .rule = "a whole number of ns", .set = set_wake},
    {.name = "MW_ENGINE_REF", .values = {"0", "1"}, .rule = "0 or 1", .set = set_reference},
    {.name = "MW_ENGINE_WIDE", .values = {"0", "256", "512"}, .rule = "0, 256 or 512", .set = set_width},
    {.name = "MW_ENGINE_FUSE", .values = {"0", "1"}, .rule = "0 or 1", .set = set_fuse},
    {.name = "MW_ENGINE_EXACT_CONVOLUTION", .values = {"0", "1"}, .rule = "0 or 1", .set = set_exact},
    {.name = "MW_ENGINE_FOLD", .values = {"0", "1"}, .rule = "0 or 1", .set = set_fold},
    {.name = "MW_ENGINE_PACK", .least = 0, .rule = "a whole number of bytes", .set = set_pack},
    {.name = "MW_ENGINE_LOADED",
     .values = {"operations", "programs", "none"},
     .rule = "operations, programs or none",
     .set = set_loaded},
    {.name = "MW_ENGINE_SUBNORMALS", .values = {"kept", "flushed"}, .rule = "kept or flushed", .set = set_subnormals},
    {.name = "MW_ENGINE_STREAMS", .values = {"sound", "unsound"}, .rule = "sound or unsound", .set = set_streams},
    {.name = "MW_ENGINE_CACHE_BYTES", .least = 0, .rule = "a whole number of bytes", .set = set_cache_bytes},
    {.name = "MW_ENGINE_CACHE_ENTRIES", .least = 1, .rule = "a number above 0", .set = set_cache_entries},
    {.name = "MW_ENGINE_PROFILE", .check = check_profile, .set = set_profile},
    {.name = "MW_PASSES_OFF", .check = check_off, .set = set_off},
    {.name = "MW_BLAS", .set = set_blas},
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

static bool is_value(const variable_row *row, const char *text)
{
    uint64_t number;
    if (row->rule == NULL)
        return true;
    if (row->values[0] == NULL)
        return mw__number_read_u64(text, strlen(text), &number) && number >= row->least;
    for (size_t i = 0; row->values[i] != NULL; i++)
        if (strcmp(row->values[i], text) == 0)
            return true;
    return false;
}

/* ---- the processor ---- */

#if defined(__x86_64__)
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool has_avx512f(void) { return __builtin_cpu_supports("avx512f"); }
static bool has_avx512(void)
{
    return has_avx512f() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
static bool has_avx2(void) { return false; }
static bool has_avx512f(void) { return false; }
static bool has_avx512(void) { return false; }
#endif

static void choose_level(mw__config *config)
{
    config->avx512f = config->width >= 512 && has_avx512f();
    if (config->reference)
        config->level = MW__LEVEL_REF;
    else if (config->width < 256 || !has_avx2())
        config->level = MW__LEVEL_BASE;
    else
        config->level = config->width >= 512 && has_avx512() ? MW__LEVEL_AVX512 : MW__LEVEL_AVX2;
}

/* ---- public ---- */

const char *mw__level_name(mw__level level)
{
    static const char *const names[MW__LEVELS] = {"ref", "base", "avx2", "avx512"};
    return names[level];
}

mw__sums mw__config_sums(const mw__config *config)
{
    if ((config->arithmetic & MW__ARITHMETIC(product_fixed_point)) != 0)
        return MW__SUMS_FIXED;
    if ((config->arithmetic & MW__ARITHMETIC(product_tiles)) != 0)
        return MW__SUMS_FOURS;
    return (config->arithmetic & MW__ARITHMETIC(int8_sums)) != 0 ? MW__SUMS_PLAIN : MW__SUMS_FREE;
}

void mw__config_init(mw__config *config)
{
    *config = (mw__config){.fuse = true,
                           .fold = true,
                           .width = 512,
                           .wake = WAKE_COST,
                           .pack = PACK_BYTES,
                           .cache_bytes = CACHE_BYTES,
                           .cache_entries = CACHE_ENTRIES,
                           .profile = mw__arithmetic_of(MW_CHIP_AUTO),
                           .profile_text = MW__ARITHMETIC_DEFAULT};
    choose_level(config);
}

static mw_status set(mw__config *config, const variable_row *row, const char *text, mw_error *err)
{
    if (text == NULL || text[0] == '\0')
        return MW_OK;
    if (!is_value(row, text))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s is \"%.100s\", not %s", row->name, text, row->rule);
    if (row->check != NULL)
        MW_TRY(row->check(text, err));
    row->set(config, text);
    choose_level(config);
    return MW_OK;
}

mw_status mw__config_set(mw__config *config, const char *name, const char *value, mw_error *err)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return set(config, &rows[i], value, err);
    return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.100s\" is no variable of the engine", name);
}

mw_status mw__config_read_environment(mw__config *config, mw_error *err)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        MW_TRY(set(config, &rows[i], mw__environment(rows[i].name), err));
    return MW_OK;
}
