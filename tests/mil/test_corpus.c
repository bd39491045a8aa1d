/* Every real program of the shared corpus: parses, prints, and comes back. The files are read where they are. */
#include "graph/ir/ir.h"
#include "mil/normalize.h"
#include "support/check.h"
#include <millwright/mil.h>
#include <stdlib.h>

typedef struct program {
    char folder[256];
    bool apple; /* printed by Apple's compiler */
} program;

static char *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *out_size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*out_size + 1);
    *out_size = fread(text, 1, *out_size, file);
    text[*out_size] = '\0';
    fclose(file);
    return text;
}

static program programs[256];
static size_t program_count;

/* INDEX.tsv: folder, ..., origin */
static void read_index(void)
{
    char line[1024];
    FILE *file = fopen(MW_SHARED_DATA "/mil/INDEX.tsv", "r");
    if (file == NULL)
        return;
    for (bool header = true; fgets(line, sizeof line, file) != NULL; header = false) {
        if (header || program_count == 256)
            continue;
        program *p = &programs[program_count++];
        snprintf(p->folder, sizeof p->folder, "%.*s", (int)strcspn(line, "\t"), line);
        const char *origin = strrchr(line, '\t');
        p->apple = origin != NULL && strncmp(origin + 1, "apple-compiler", 14) == 0;
    }
    fclose(file);
}

static char *read_program(const program *p, size_t *out_size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/mil/%s/model.mil", MW_SHARED_DATA, p->folder);
    return read_file(path, out_size);
}

static char *print_text(const char *text, size_t size, const char *who)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, &err);
    char *printed = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    check_note(printed != NULL, __FILE__, __LINE__, "%s: %s", who, err.message);
    mw_graph_destroy(graph);
    return printed;
}

static bool same_bytes(const char *printed, const char *text, size_t size)
{
    return strlen(printed) == size && memcmp(printed, text, size) == 0;
}

static void report_difference(const program *p, const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] != '\0' && a[i] == b[i])
        i++;
    const size_t from = i > 60 ? i - 60 : 0;
    check_note(a[i] == b[i], __FILE__, __LINE__, "%s differs:\n  %.120s\n  %.120s", p->folder, a + from, b + from);
}

static void test_programs_of_apple_come_back_byte_for_byte(void)
{
    int seen = 0;
    for (size_t i = 0; i < program_count; i++) {
        size_t size;
        char *text = programs[i].apple ? read_program(&programs[i], &size) : NULL;
        if (text == NULL)
            continue;
        char *printed = print_text(text, size, programs[i].folder);
        if (printed != NULL && !same_bytes(printed, text, size))
            report_difference(&programs[i], printed, text);
        mw_string_free(printed);
        free(text);
        seen++;
    }
    if (seen == 0)
        SKIP("no corpus at " MW_SHARED_DATA "/mil");
    CHECK_INT(seen, 14);
}

static void test_programs_come_back_equal_when_normalized(void)
{
    if (program_count == 0)
        SKIP("no corpus at " MW_SHARED_DATA "/mil");
    CHECK_INT(program_count, 44);
    for (size_t i = 0; i < program_count; i++) {
        size_t size;
        char *text = read_program(&programs[i], &size);
        REQUIRE(text != NULL);
        char *printed = print_text(text, size, programs[i].folder);
        if (printed != NULL) {
            char *before = normalize(text, size), *after = normalize(printed, strlen(printed));
            report_difference(&programs[i], after, before);
            free(before);
            free(after);
        }
        mw_string_free(printed);
        free(text);
    }
}

static void test_printing_is_a_fixed_point(void)
{
    if (program_count == 0)
        SKIP("no corpus at " MW_SHARED_DATA "/mil");
    for (size_t i = 0; i < program_count; i++) {
        size_t size;
        char *text = read_program(&programs[i], &size);
        REQUIRE(text != NULL);
        char *once = print_text(text, size, programs[i].folder);
        char *twice = once != NULL ? print_text(once, strlen(once), programs[i].folder) : NULL;
        if (twice != NULL)
            report_difference(&programs[i], twice, once);
        mw_string_free(once);
        mw_string_free(twice);
        free(text);
    }
}

/* A program with an operation that the table does not know cannot be verified, and says which. */
static void test_programs_of_known_operations_verify(void)
{
    int verified = 0;
    for (size_t i = 0; i < program_count; i++) {
        size_t size;
        mw_error err = {0};
        char *text = read_program(&programs[i], &size);
        REQUIRE(text != NULL);
        mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, &err);
        const mw_status status = graph != NULL ? mw_graph_verify(graph, &err) : err.status;
        check_note(status == MW_OK || strstr(err.message, "is not known") != NULL, __FILE__, __LINE__, "%s: %d:%d %s",
                   programs[i].folder, err.text_line, err.text_column, err.message);
        verified += status == MW_OK;
        mw_graph_destroy(graph);
        free(text);
    }
    if (program_count == 0)
        SKIP("no corpus at " MW_SHARED_DATA "/mil");
    printf("  %d of %zu programs verify\n", verified, program_count);
    CHECK(verified >= 10);
}

/* Each operation that has a row, also in programs that hold unknown ones. */
static void verify_block(const mw__block *block, const char *who, int *seen)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        mw_error err = {0};
        if (op->row != NULL) {
            mw__op_verify(op, &err);
            check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %u:%u %s", who, op->line, op->column, err.message);
            *seen += 1;
        }
        for (size_t k = 0; k < op->block_count; k++)
            verify_block(op->blocks[k], who, seen);
    }
}

static void test_operations_of_the_table_verify_everywhere(void)
{
    int seen = 0;
    if (program_count == 0)
        SKIP("no corpus at " MW_SHARED_DATA "/mil");
    for (size_t i = 0; i < program_count; i++) {
        size_t size;
        mw_error err = {0};
        char *text = read_program(&programs[i], &size);
        REQUIRE(text != NULL);
        mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, &err);
        CHECK_OK(err);
        for (size_t k = 0; graph != NULL && k < graph->function_count; k++)
            verify_block(graph->functions[k]->body, programs[i].folder, &seen);
        mw_graph_destroy(graph);
        free(text);
    }
    printf("  %d operations verify\n", seen);
    CHECK(seen > 2000);
}

static void test_weight_files_of_the_corpus_load(void)
{
    static const char *const folders[] = {"mobius__silero-vad-unified-v6.0.0_v2", "mobius__unified_int8_v2",
                                          "mobius__unified_palette_4bit_v2", "mlmodelc-export__quantized-constexpr"};
    if (program_count == 0)
        SKIP("no corpus at " MW_SHARED_DATA "/mil");
    for (size_t i = 0; i < 4; i++) {
        char path[512];
        mw_error err = {0};
        snprintf(path, sizeof path, "%s/mil/%s/model.mil", MW_SHARED_DATA, folders[i]);
        mw_graph *graph = mw_graph_open_mil(path, NULL, &err);
        CHECK_OK(err);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    read_index();
    RUN(test_programs_of_apple_come_back_byte_for_byte);
    RUN(test_programs_come_back_equal_when_normalized);
    RUN(test_printing_is_a_fixed_point);
    RUN(test_programs_of_known_operations_verify);
    RUN(test_operations_of_the_table_verify_everywhere);
    RUN(test_weight_files_of_the_corpus_load);
    return check_finish();
}
