/* Programs and texts of unusual sizes: nothing at all, a word of a gibibyte, a chain of thousands of operations on a
 * small stack. */
#include "base/file/file.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <pthread.h>
#include <stdlib.h>

static void test_an_empty_file_is_no_program(void)
{
    char *folder = NULL, path[1024];
    mw_error err = {0};
    REQUIRE(mw__file_make_private_folder(NULL, 0, &folder, &err) == MW_OK);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    mw__file_write(NULL, path, NULL, 0, false, &err);
    CHECK_OK(err);
    CHECK(mw_graph_open_mil(path, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "found end of text");
    CHECK_CONTAINS(err.message, "model.mil");
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
}

static void test_a_word_of_a_gibibyte_is_refused(void)
{
    static const char head[] = "program(1.3){func main<ios18>(fp16 ";
    const size_t size = (size_t)1 << 30;
    mw_error err = {0};
    if (getenv("MW_NIGHTLY") == NULL)
        SKIP("takes 1 GiB: MW_NIGHTLY=1");
    char *text = malloc(size);
    REQUIRE(text != NULL);
    memset(text, 'n', size);
    memcpy(text, head, sizeof head - 1);
    CHECK(mw_graph_parse_mil(text, size, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "name of 1073741789 bytes");
    free(text);
}

/* ---- deep graphs ---- */

/* A chain of tanh with its gradient: printed, read back, verified and printed again. */
static void *work_on_a_chain(void *user)
{
    enum { DEPTH = 10000 };
    mw_error *err = user;
    mw_graph *graph = mw_graph_create(NULL, NULL), *again = NULL;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *y = x, *dx = NULL;
    for (int i = 0; i < DEPTH; i++)
        y = mw_tanh(y);
    mw_grad(mw_reduce_sum(y, MW_ALL_AXES, false), &x, 1, &dx, err);
    mw_output(dx, "dx");
    char *text = mw_graph_print_mil(graph, NULL, err), *twice = NULL;
    if (text != NULL)
        again = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    if (again != NULL) {
        mw_graph_verify(again, err);
        twice = mw_graph_print_mil(again, NULL, err);
    }
    CHECK(twice != NULL && strcmp(text, twice) == 0);
    mw_string_free(text);
    mw_string_free(twice);
    mw_graph_destroy(again);
    mw_graph_destroy(graph);
    return NULL;
}

/* Whatever walks a graph keeps its way on the heap: a call per operation would take at least 16 bytes each, of which
 * a stack of 128 KiB has 8192. */
static void test_a_deep_graph_needs_no_deep_stack(void)
{
    enum { SMALL = 128 << 10 };
    pthread_attr_t attributes;
    pthread_t thread;
    mw_error err = {0};
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, SMALL) != 0 ||
        pthread_create(&thread, &attributes, work_on_a_chain, &err) != 0)
        SKIP("a stack cannot be as small here");
    pthread_join(thread, NULL);
    CHECK_OK(err);
}

int main(void)
{
    RUN(test_an_empty_file_is_no_program);
    RUN(test_a_word_of_a_gibibyte_is_refused);
    RUN(test_a_deep_graph_needs_no_deep_stack);
    return check_finish();
}
