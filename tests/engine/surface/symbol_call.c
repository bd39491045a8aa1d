#include "symbol_call.h"

#include "support/check.h"

typedef void function(void);
typedef e5rt_error_code call_any(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static const struct {
    const char *name, *parameters;
    function *function;
} rows[] = {
#define MW_E5RT(name, parameters, confidence, source, what) {#name, #parameters, (function *)e5rt_##name},
#define MW_E5RT_ABSENT                                      MW_E5RT
#define MW_E5RT_TEXT(name, parameters, confidence, source, what)
#include "engine/surface/symbols.def"
};

size_t symbol_call_count(void) { return sizeof rows / sizeof *rows; }

const char *symbol_call_name(size_t row) { return rows[row].name; }

/* "void **out_port" */
static argument read_parameter(const char *text, size_t length)
{
    argument result = {.kind = ARGUMENT_NUMBER};
    size_t start = length;
    int stars = 0;
    for (size_t i = 0; i < length; i++)
        stars += text[i] == '*';
    while (start > 0 && strchr(" *(", text[start - 1]) == NULL)
        start--;
    snprintf(result.name, sizeof result.name, "%.*s", (int)(length - start), text + start);
    const bool is_void = strncmp(text, "void *", 6) == 0, is_text = strncmp(text, "const char *", 12) == 0;
    if (strcspn(text, "(") < length || (is_void && strcmp(result.name, "data") == 0))
        result.kind = ARGUMENT_MEMORY;
    else if (stars > 0 && strncmp(result.name, "out", 3) == 0)
        result.kind = ARGUMENT_OUT;
    else if (is_void)
        result.kind = stars > 1 ? ARGUMENT_ADDRESS : ARGUMENT_HANDLE;
    else if (is_text)
        result.kind = stars > 1 ? ARGUMENT_TEXTS : ARGUMENT_TEXT;
    else if (stars > 0)
        result.kind = ARGUMENT_NUMBERS;
    return result;
}

/* To the comma behind a parameter, or to the end: functions have parameters of their own. */
static size_t length_of(const char *text)
{
    size_t length = 0;
    for (int depth = 0; depth > 0 || strchr(",)", text[length]) == NULL; length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

size_t symbol_call_arguments(size_t row, argument *out)
{
    size_t count = 0;
    const char *at = rows[row].parameters + 1;
    while (*at != ')' && count < SYMBOL_ARGUMENTS) {
        const size_t length = length_of(at);
        out[count++] = read_parameter(at, length);
        at += length;
        at += strspn(at, ", ");
    }
    check_note(*at == ')', __FILE__, __LINE__, "%s has too many parameters", rows[row].name);
    return count;
}

#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
e5rt_error_code
symbol_call(size_t row, const uint64_t *a)
{
    return ((call_any *)rows[row].function)(a[0], a[1], a[2], a[3], a[4], a[5]);
}
