/* libmillwright_e5rt, opened as a client would: it exports the rows of symbols.def and nothing else, and answers where
 * it has nothing; e5rt.h declares what the rows say. Nothing here calls the engine that the tests are linked with. */
#include "support/check.h"
#include "support/page.h"
#include "symbol_rows.h"

#include <dlfcn.h>
#include <e5rt/e5rt.h>
#include <stdlib.h>

#if defined(__linux__)
#include <elf.h>
#include <link.h>
#endif

/* ---- types ---- */

#define MW_E5RT(name, parameters, confidence, source, what)                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(e5rt_##name), e5rt_error_code parameters), "e5rt_" #name);
#define MW_E5RT_TEXT(name, parameters, confidence, source, what)                                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(e5rt_##name), const char *parameters), "e5rt_" #name);
#define MW_E5RT_ABSENT MW_E5RT
#include "engine/surface/symbols.def"

static const symbol_row *find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < symbol_count; i++)
        if (strncmp(symbol_rows[i].name, name, length) == 0 && symbol_rows[i].name[length] == '\0')
            return &symbol_rows[i];
    return NULL;
}

/* How many functions the text declares; each has to be a row that says its parameters, with its confidence behind. */
static size_t check_declarations(const char *text)
{
    size_t count = 0;
    for (const char *at = strstr(text, "\nE5RT_API "); at != NULL; at = strstr(at, "\nE5RT_API ")) {
        at = strstr(at, "e5rt_");
        if (strncmp(at, "e5rt_error_code ", 16) == 0 || strncmp(at, "e5rt_error_code\n", 16) == 0)
            at = strstr(at + 15, "e5rt_");
        const int length = (int)strcspn(at, "(");
        const symbol_row *row = find_row(at, (size_t)length);
        check_note(row != NULL && row->state != SYMBOL_UNKNOWN, __FILE__, __LINE__, "%.*s is no row", length, at);
        const char *mark = row != NULL ? strchr(at, ';') + 1 : NULL;
        mark = mark != NULL ? mark + strspn(mark, " ") : NULL;
        check_note(mark != NULL && strncmp(mark, "/* ", 3) == 0 && mark[3] == row->confidence[0], __FILE__, __LINE__,
                   "%.*s is not marked %s", length, at, row != NULL ? row->confidence : "");
        count++;
    }
    return count;
}

static void test_the_header_declares_the_rows(void)
{
    size_t known = 0;
    char *text = page_read(MW_TESTS_DIR "/../include/e5rt/e5rt.h");
    REQUIRE(text != NULL);
    for (size_t i = 0; i < symbol_count; i++)
        known += symbol_rows[i].state != SYMBOL_GROUP && symbol_rows[i].state != SYMBOL_UNKNOWN;
    CHECK_INT(check_declarations(text), known);
    free(text);
}

/* ---- exports ---- */

#ifndef MW_E5RT_LIBRARY
#define MW_E5RT_LIBRARY NULL /* not built */
#endif

static void *open_library(void)
{
    void *library = dlopen(MW_E5RT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    check_note(library != NULL, __FILE__, __LINE__, "%s", dlerror());
    return library;
}

/* What ends at its end must begin nothing, or the library would come back while it leaves. */
static void test_a_library_that_was_not_used_goes(void)
{
    if (MW_E5RT_LIBRARY == NULL)
        SKIP("libmillwright_e5rt is not built");
    void *library = open_library();
    REQUIRE(library != NULL);
    CHECK_INT(dlclose(library), 0);
    void *left = dlopen(MW_E5RT_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    CHECK(left == NULL);
    if (left != NULL)
        dlclose(left);
}

static void test_every_row_is_exported_once(void)
{
    if (MW_E5RT_LIBRARY == NULL)
        SKIP("libmillwright_e5rt is not built");
    void *library = open_library();
    REQUIRE(library != NULL);
    for (size_t i = 0; i < symbol_count; i++) {
        const symbol_row *row = &symbol_rows[i];
        if (row->state == SYMBOL_GROUP)
            continue;
        check_note(dlsym(library, row->name) != NULL, __FILE__, __LINE__, "%s is not exported", row->name);
        check_note(find_row(row->name, strlen(row->name)) == row, __FILE__, __LINE__, "%s: two rows", row->name);
    }
    CHECK(dlsym(library, "e5rt_error_code_get_string") == NULL);
    dlclose(library);
}

#if defined(__linux__)
static void check_exports(const unsigned char *image)
{
    const ElfW(Ehdr) *head = (const void *)image;
    const ElfW(Shdr) *sections = (const void *)(image + head->e_shoff);
    for (size_t s = 0; s < head->e_shnum; s++) {
        if (sections[s].sh_type != SHT_DYNSYM)
            continue;
        const ElfW(Sym) *symbols = (const void *)(image + sections[s].sh_offset);
        const char *names = (const char *)image + sections[sections[s].sh_link].sh_offset;
        for (size_t i = 1; i < sections[s].sh_size / sizeof *symbols; i++) {
            const char *name = names + symbols[i].st_name;
            if (symbols[i].st_shndx != SHN_UNDEF)
                check_note(find_row(name, strlen(name)) != NULL, __FILE__, __LINE__, "%s is exported", name);
        }
    }
}

static void test_nothing_else_is_exported(void)
{
    if (MW_E5RT_LIBRARY == NULL)
        SKIP("libmillwright_e5rt is not built");
    unsigned char *image = (unsigned char *)page_read(MW_E5RT_LIBRARY);
    REQUIRE(image != NULL && memcmp(image, ELFMAG, SELFMAG) == 0);
    check_exports(image);
    free(image);
}
#else
static void test_nothing_else_is_exported(void) { SKIP("no ELF"); }
#endif

/* ---- what is not available ---- */

/* One of those that nobody knows the parameters of, called as its client might. */
typedef e5rt_error_code call_any(void *, void *, void *, void *, void *, void *);
typedef const char *call_message(void);

#define FUNCTION(library, type, name) (*(type **)(void *[]){dlsym((library), (name))})

#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
static e5rt_error_code
call(void *library, const char *name, void *argument)
{
    return FUNCTION(library, call_any, name)(argument, argument, argument, argument, argument, argument);
}

static void test_what_is_not_available_says_so(void)
{
    char wanted[200];
    if (MW_E5RT_LIBRARY == NULL)
        SKIP("libmillwright_e5rt is not built");
    void *library = open_library();
    REQUIRE(library != NULL);
    for (size_t i = 0; i < symbol_count; i++) {
        const symbol_row *row = &symbol_rows[i];
        if (row->state != SYMBOL_ABSENT && row->state != SYMBOL_UNKNOWN)
            continue;
        snprintf(wanted, sizeof wanted, "%s is not available on this platform: %s", row->name, row->what);
        for (int garbage = 0; garbage <= 1; garbage++) {
            CHECK_INT(call(library, row->name, garbage ? (void *)UINTPTR_MAX : NULL), E5RT_INVALID_OPERATION);
            CHECK_STR(FUNCTION(library, call_message, "e5rt_get_last_error_message")(), wanted);
        }
    }
    dlclose(library);
}

int main(void)
{
    RUN(test_a_library_that_was_not_used_goes); /* before those that use it */
    RUN(test_the_header_declares_the_rows);
    RUN(test_every_row_is_exported_once);
    RUN(test_nothing_else_is_exported);
    RUN(test_what_is_not_available_says_so);
    return check_finish();
}
