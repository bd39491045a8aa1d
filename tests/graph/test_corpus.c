/* Real MIL programs, where they are at hand: the rules give the types that Apple's compiler declared, and a clone
 * prints as its source. Weights are not loaded; only types are computed. */
#include "graph_check.h"

#include "graph/transform/clone/clone.h"

#include <dirent.h>
#include <stdlib.h>

typedef struct tally {
    int files, checked;
} tally;

static char *read_text(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    *out_size = text != NULL ? fread(text, 1, (size_t)size, file) : 0;
    fclose(file);
    return text;
}

/* Operations that the table does not know are other tests' business. */
static void verify_block(const mw__block *block, const char *path, tally *count)
{
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        mw_error err = {0};
        for (size_t k = 0; k < op->block_count; k++)
            verify_block(op->blocks[k], path, count);
        if (op->row == NULL)
            continue;
        mw__op_verify(op, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s:%d: %s", path, err.text_line, err.message);
        count->checked++;
    }
}

/* The text from the function on; the header belongs to the program. */
static const char *body_of(const char *text)
{
    const char *body = strstr(text, "    func ");
    return body != NULL ? body : text;
}

static void compare_clone(const mw_graph *from, const char *path)
{
    const mw__function *function = from->functions[0];
    mw_graph *to = make_graph(function->opset, NULL);
    mw__clone clone;
    mw_error err = {0};
    const mw__clone_options options = {.keep_outputs = true};
    mw__clone_run(&clone, function, to, &options, &err);
    to->style = from->style;
    to->current->line = function->line; /* to the printer a parsed function */
    to->final_newline = from->final_newline;
    char *before = mw_graph_print_mil(from, NULL, &err), *after = mw_graph_print_mil(to, NULL, &err);
    check_note(before != NULL && after != NULL && strcmp(body_of(before), body_of(after)) == 0, __FILE__, __LINE__,
               "%s: the clone prints otherwise (%s)", path, err.message);
    mw_string_free(before);
    mw_string_free(after);
    mw__clone_deinit(&clone);
    mw_graph_destroy(to);
}

static void check_file(const char *path, tally *count)
{
    size_t size;
    mw_error err = {0};
    char *text = read_text(path, &size);
    if (text == NULL)
        return;
    mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", path, err.message);
    for (size_t i = 0; graph != NULL && i < graph->function_count; i++)
        verify_block(graph->functions[i]->body, path, count);
    if (graph != NULL && graph->function_count == 1)
        compare_clone(graph, path);
    count->files++;
    mw_graph_destroy(graph);
    free(text);
}

static void test_rules_and_clone_agree_with_real_programs(void)
{
    DIR *folder = opendir(MW_SHARED_DATA "/mil");
    if (folder == NULL)
        SKIP("no real programs at hand");
    tally count = {0, 0};
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[1024];
        snprintf(path, sizeof path, "%s/mil/%s/model.mil", MW_SHARED_DATA, entry->d_name);
        if (entry->d_name[0] != '.')
            check_file(path, &count);
    }
    closedir(folder);
    CHECK(count.files > 10 && count.checked > 1000);
}

int main(void)
{
    RUN(test_rules_and_clone_agree_with_real_programs);
    return check_finish();
}
