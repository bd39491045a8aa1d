/* Pictures of programs are well-formed, no text lies over another or outside, and repeated blocks are drawn once. */
#include "networks.h"
#include "picture.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"

#include <millwright/view.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static size_t check_svg(const mw_graph *graph, const mw_draw_options *options, const char *what)
{
    mw_error err = {0};
    char *svg = mw_graph_print_svg(graph, options, &err);
    CHECK_OK(err);
    if (svg == NULL)
        return 0;
    picture_is_xml(svg, what);
    picture_is_alone(svg, what);
    const size_t texts = picture_check_texts(svg, what);
    mw_string_free(svg);
    return texts;
}

static void test_pictures_of_networks_have_room_for_their_texts(void)
{
    mw_graph *graphs[] = {cnn_make(), transformer_make(4), recurrent_make(), chain_make(3)};
    mw_draw_options options = mw_draw_defaults();
    for (int form = 0; form < 4; form++) {
        options.operations = form % 2 == 1;
        options.unfolded = form >= 2;
        for (size_t i = 0; i < 4; i++)
            CHECK(check_svg(graphs[i], &options, "a network") > 4);
    }
    for (size_t i = 0; i < 4; i++)
        mw_graph_destroy(graphs[i]);
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        found++;
    return found;
}

static void test_repeated_blocks_are_drawn_once(void)
{
    mw_error err = {0};
    mw_graph *graph = transformer_make(12);
    mw_draw_options options = mw_draw_defaults();
    char *folded = mw_graph_print_svg(graph, &options, &err);
    options.unfolded = true;
    char *unfolded = mw_graph_print_svg(graph, &options, &err);
    CHECK_OK(err);
    CHECK(strstr(folded, ">12 times</text>") != NULL);
    CHECK(strstr(folded, ">block*.attention.q</text>") != NULL);
    CHECK_INT(count(folded, ">attention heads 4, width 8</text>"), 1);
    CHECK_INT(count(unfolded, ">attention heads 4, width 8</text>"), 12);
    CHECK(strstr(unfolded, ">block11.attention.q</text>") != NULL);
    mw_string_free(unfolded);
    mw_string_free(folded);
    mw_graph_destroy(graph);
}

/* Side by side they are no block that is run again and again. */
static void test_equal_branches_are_drawn_each(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), *parts[6];
    for (int i = 0; i < 6; i++)
        parts[i] = mw_tanh(x);
    mw_output(mw_concat(parts, 6, 0), "y");
    char *svg = mw_graph_print_svg(graph, NULL, &err);
    CHECK_OK(err);
    CHECK_INT(count(svg, ">tanh</text>"), 6);
    CHECK(strstr(svg, "times</text>") == NULL);
    mw_string_free(svg);
    mw_graph_destroy(graph);
}

/* A value that is read again and again, far below. */
static void test_long_arrows_begin_at_labels(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), *first = mw_sin(x), *h = first;
    for (int i = 0; i < 120; i++)
        h = i % 40 == 39 ? mw_add(h, first) : i % 2 == 0 ? mw_tanh(h) : mw_relu(h);
    mw_output(h, "y");
    mw_draw_options options = mw_draw_defaults();
    options.unfolded = true;
    CHECK(check_svg(graph, &options, "long arrows") > 200);
    char *svg = mw_graph_print_svg(graph, &options, &err);
    CHECK_INT(count(svg, ">from sin_0</text>"), 3);
    mw_string_free(svg);
    mw_graph_destroy(graph);
}

static void test_of_a_large_program_the_ends_are_drawn(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    for (int i = 0; i < 30000; i++)
        h = i % 7 < 3 ? mw_tanh(h) : i % 11 < 5 ? mw_relu(h) : mw_sin(h);
    mw_output(h, "y");
    mw_draw_options options = mw_draw_defaults();
    options.unfolded = true;
    char *svg = mw_graph_print_svg(graph, &options, &err);
    CHECK_OK(err);
    CHECK(strstr(svg, ">29,001 layers that are not shown</text>") != NULL);
    CHECK(strlen(svg) < 1000 * 2048);
    CHECK(picture_check_texts(svg, "a large program") > 1000);
    mw_string_free(svg);
    options.most = 7;
    CHECK(mw_graph_print_svg(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "8 to 100000");
    mw_graph_destroy(graph);
}

static mw_graph *hostile_make(void)
{
    static const char *const names[] = {"</text><script>alert(1)</script>", "\"&amp;<>'",
                                        "a\\N\"] evil [label=\"b",          "\xe2\x80\xae right to left",
                                        "\xef\xbf\xbe\xef\xbf\xbf",         "\xe6\xbc\xa2\xe5\xad\x97"};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "in]]>put<!--", MW_F32, MW_SHAPE(2, 3));
    char name[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s %zu", names[i], i);
        h = mw_dense(h, 3, name);
    }
    mw_output(h, "<b onload=\"x\">");
    return graph;
}

static void test_names_cannot_change_the_picture(void)
{
    mw_error err = {0};
    char folder[512];
    REQUIRE(folder_enter(folder));
    mw_graph *graph = hostile_make();
    CHECK_INT(mw_graph_check(graph, &err), MW_OK);
    mw_draw_options options = mw_draw_defaults();
    options.title = "<title>&\"'\x01";
    CHECK(check_svg(graph, &options, "hostile names") > 10);
    CHECK_INT(mw_graph_write_dot(graph, "hostile.dot", &options, &err), MW_OK);
    char *dot = picture_read("hostile.dot");
    REQUIRE(dot != NULL);
    size_t quotes = 0;
    for (const char *at = dot; *at != '\0'; at++) { /* outside of quotes is only what we wrote */
        if (*at == '\\' && quotes % 2 == 1)
            at++;
        else if (*at == '"')
            quotes++;
        else
            check_note(quotes % 2 == 1 || strchr("<>'&!", *at) == NULL || strncmp(at, "> n", 3) == 0, __FILE__,
                       __LINE__, "outside of quotes: %.20s", at);
    }
    CHECK_INT(quotes % 2, 0);
    free(dot);
    mw_graph_destroy(graph);
    folder_leave(folder);
}

static void test_programs_of_others_have_pictures(void)
{
    char path[1024];
    DIR *folder = opendir(MW_SHARED_DATA "/mil");
    size_t done = 0;
    if (folder == NULL)
        SKIP("no real programs at %s", MW_SHARED_DATA);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        mw_error err = {0};
        snprintf(path, sizeof path, MW_SHARED_DATA "/mil/%s/model.mil", entry->d_name);
        char *text = picture_read(path);
        mw_graph *graph = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
        mw_draw_options options = mw_draw_defaults();
        if (graph != NULL && check_svg(graph, &options, entry->d_name) > 0)
            done++;
        options.operations = true;
        if (graph != NULL)
            check_svg(graph, &options, entry->d_name);
        mw_graph_destroy(graph);
        free(text);
    }
    closedir(folder);
    CHECK(done > 30);
}

static void test_every_allocation_may_fail(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    bool whole = false;
    for (long n = 0; n < 3000 && !whole; n++) {
        failing_allocator failing = {.fail_at = -1};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(&options, NULL);
        mw_output(mw_gelu(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(4, 6)), 5, "fc"), MW_GELU_TANH), "y");
        failing.fail_at = failing.requests + n;
        whole = mw_graph_write_svg(graph, "x.svg", NULL, &err) == MW_OK;
        failing.fail_at = -1;
        CHECK(whole || err.status == MW_ERROR_MEMORY);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
    }
    CHECK(whole);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_pictures_of_networks_have_room_for_their_texts);
    RUN(test_repeated_blocks_are_drawn_once);
    RUN(test_equal_branches_are_drawn_each);
    RUN(test_long_arrows_begin_at_labels);
    RUN(test_of_a_large_program_the_ends_are_drawn);
    RUN(test_names_cannot_change_the_picture);
    RUN(test_programs_of_others_have_pictures);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
