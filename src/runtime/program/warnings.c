/* Constants that were replaced because fp16 does not hold them: kept with the program and logged. */
#include "runtime/program/warnings.h"

#include "base/number/number.h"
#include "base/text/log.h"
#include "base/text/text.h"
#include "mil/legalize/numbers/narrow.h"
#include "runtime/program/program_object.h"

#include <string.h>

/* ---- making ---- */

/* Whether the tensor is the one in quotes at the end of `clip "limited"`. */
static bool is_named_by(const char *subject, const char *tensor)
{
    const char *quote = strchr(subject, '"');
    const size_t length = strlen(tensor);
    return quote != NULL && strncmp(quote + 1, tensor, length) == 0 && strcmp(quote + 1 + length, "\"") == 0;
}

mw_status mw__warning_write(mw_warning *warning, const char *subject, const char *says, mw__arena *arena, mw_error *err)
{
    char value[MW__NUMBER_MAX], replaced[MW__NUMBER_MAX];
    const bool named = warning->tensor[0] != '\0' && !is_named_by(subject, warning->tensor);
    mw__number_print_float(value, (float)warning->value);
    mw__number_print_float(replaced, (float)warning->replaced_by);
    mw__text text;
    mw__text_init(&text, arena->allocator);
    if (says != NULL)
        mw__text_printf(&text, "%s: %s", subject, says);
    else
        mw__text_printf(&text, "%s: %s%s%s = %s, which fp16 does not hold, became %s", subject, warning->argument,
                        named ? " " : "", named ? warning->tensor : "", value, replaced);
    if (warning->count > 1)
        mw__text_printf(&text, " (and %zu more elements)", warning->count - 1);
    warning->message = mw__text_check(&text, err) == MW_OK ? mw__arena_string(arena, text.data, text.size, err) : NULL;
    mw__text_deinit(&text);
    return warning->message != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_warning(mw_program *program, const mw__narrowing *from, mw_warning *to, mw_error *err)
{
    mw__arena *arena = &program->arena;
    *to = (mw_warning){.value = from->value, .replaced_by = from->replaced, .count = from->count};
    to->operation = mw__arena_string(arena, from->operation, strlen(from->operation), err);
    to->argument = mw__arena_string(arena, from->argument, strlen(from->argument), err);
    to->tensor = mw__arena_string(arena, from->tensor, strlen(from->tensor), err);
    if (to->operation == NULL || to->argument == NULL || to->tensor == NULL)
        return MW_ERROR_MEMORY;
    return mw__warning_write(to, from->subject, from->says, arena, err);
}

/* One line for those of a kind: constants were replaced, or operations pass the range of fp16. */
static void log_warnings(const mw_program *program, bool constants)
{
    size_t count = 0;
    const mw_warning *first = NULL;
    for (size_t i = 0; i < program->warning_count; i++) {
        const mw_warning *warning = &program->warnings[i];
        if ((warning->count > 0) != constants)
            continue;
        first = first == NULL ? warning : first;
        count++;
    }
    if (first != NULL)
        mw__log(MW_LOG_WARNING,
                constants ? "%zu constants do not fit fp16 and were replaced (mw_program_warning_at); the first: %s"
                          : "%zu operations make 0 of large numbers in fp16 (mw_program_warning_at); the first: %s",
                count, first->message);
}

mw_status mw__program_take_warnings(mw_program *program, const mw__narrowing *narrowed, mw_error *err)
{
    size_t count = 0;
    for (const mw__narrowing *at = narrowed; at != NULL; at = at->next)
        count++;
    if (count == 0)
        return MW_OK;
    program->warnings = mw__arena_alloc(&program->arena, count, sizeof *program->warnings, err);
    if (program->warnings == NULL)
        return MW_ERROR_MEMORY;
    for (const mw__narrowing *at = narrowed; at != NULL; at = at->next, program->warning_count++)
        MW_TRY(take_warning(program, at, &program->warnings[program->warning_count], err));
    log_warnings(program, true);
    log_warnings(program, false);
    return MW_OK;
}

/* ---- asking ---- */

bool mw_program_warning_at(const mw_program *program, size_t index, mw_warning *out_warning)
{
    const mw_program *now = mw__live_has(program, MW__LIVE_PROGRAM) ? mw__program_now(program) : NULL;
    if (now == NULL || index >= now->warning_count || out_warning == NULL)
        return false;
    *out_warning = now->warnings[index];
    return true;
}
