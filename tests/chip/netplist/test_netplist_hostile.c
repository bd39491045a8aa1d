/* Netplists: every unit is mapped or refused by name, and no file does harm. */
#include "chip/netplist/netplist.h"
#include "netplist_folder.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/metered.h"
#include "support/page.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One statement of MIL on inputs, as a graph; `outputs` after it. */
static mw_graph *parse(const char *inputs, const char *body)
{
    char text[4096];
    mw_error err = {0};
    snprintf(text, sizeof text, "program(1.3)\n{\n    func main<ios18>(%s) {\n%s\n    } -> (y);\n}\n", inputs, body);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    check_note(graph != NULL, __FILE__, __LINE__, "%s in %s", err.message, text);
    return graph;
}

#define X4   "tensor<fp16, [1, 2, 3, 4]> x"
#define OUT4 "tensor<fp16, [1, 2, 3, 4]> y = "

/* ---- the table ---- */

static const char shell[] =
    "<plist version=\"1.0\"><dict><key>Version</key><string>1.0.10</string><key>Networks</key><array><string>n</string>"
    "</array><key>ProcedureList</key><array><dict><key>Name</key><string>p</string><key>InputList</key><array><dict>"
    "<key>BatchSize</key><integer>1</integer><key>InputChannels</key><integer>2</integer><key>InputDepth</key>"
    "<integer>1</integer><key>InputHeight</key><integer>3</integer><key>InputName</key><string>x</string>"
    "<key>InputWidth</key><integer>4</integer></dict></array><key>OperationList</key><array><dict><key>NetworkName</"
    "key>"
    "<string>n</string></dict></array><key>OutputList</key><array><dict><key>OutputName</key><string>y</string>"
    "<key>Name</key><string>u</string></dict></array></dict></array><key>n</key><dict><key>Units</key><array>"
    "<string>u</string></array><key>Weights</key><array><string>%s</string></array><key>u</key><dict><key>Bottom</key>"
    "<array><string>x</string></array><key>Type</key><string>%s</string>%s</dict></dict></dict></plist>";

static void read_shell(const char *weights, const char *type, const char *rest, mw_error *err)
{
    char text[4096];
    snprintf(text, sizeof text, shell, weights, type, rest);
    put_file("shell.plist", text, strlen(text));
    *err = (mw_error){0};
    mw_graph_destroy(mw_graph_open_netplist(in_folder("shell.plist"), NULL, err));
}

/* Every type that ANEForge's authors and documents name is a row: mapped, or refused with a reason. */
static void test_every_published_unit_has_a_row(void)
{
    static const char *const types[] = {"Neuron",
                                        "ElementWise",
                                        "GOC",
                                        "Broadcast",
                                        "Softmax",
                                        "Pooling",
                                        "Reduction",
                                        "Transpose",
                                        "MatrixMultiplication",
                                        "Conv",
                                        "SDPA",
                                        "Sort",
                                        "TopK",
                                        "ArgMinMax",
                                        "GlobalArgMinMax",
                                        "PixelShuffle",
                                        "PixelUnshuffle",
                                        "SpaceToChannel",
                                        "ChannelToSpace",
                                        "SpaceToBatch",
                                        "BatchToSpace",
                                        "MinMaxNormalization",
                                        "LocalResponseNormalization",
                                        "CrossCorrelation",
                                        "CostVolume",
                                        "CrossProduct",
                                        "FurthestPointSampling",
                                        "RadiusSearch",
                                        "InputView",
                                        "DynamicSlice",
                                        "ScaledElementWise",
                                        "Flatten",
                                        "Dropout",
                                        "Tile",
                                        "Concat",
                                        "Reshape",
                                        "Gather",
                                        "DynamicGOC",
                                        "KernelRasterizer",
                                        "MatrixDecomposition"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t rows = 0;
        for (size_t k = 0; k < mw__net_row_count; k++) {
            const mw__net_row *row = &mw__net_rows[k];
            rows += row->type != NULL && strcmp(row->type, types[i]) == 0;
            CHECK(row->read != NULL || row->why != NULL || row->type == NULL);
            CHECK((row->write == NULL) == (row->operation == NULL));
        }
        check_note(rows > 0, __FILE__, __LINE__, "%s has no row", types[i]);
    }
}

/* docs/netplist.md names every unit and every operation of the table. */
static void test_document_has_every_row(void)
{
    char *text = page_read(MW_TESTS_DIR "/../docs/netplist.md");
    REQUIRE(text != NULL);
    for (size_t k = 0; k < mw__net_row_count; k++) {
        const mw__net_row *row = &mw__net_rows[k];
        const char *const words[] = {row->type, row->kind, row->operation};
        for (size_t i = 0; i < 3; i++)
            check_note(words[i] == NULL || strstr(text, words[i]) != NULL, __FILE__, __LINE__,
                       "docs/netplist.md lacks %s", words[i] != NULL ? words[i] : "");
    }
    free(text);
}

static void test_refused_units_say_why(void)
{
    mw_error err;
    read_shell("w", "CostVolume", "", &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "CostVolume \"u\": MIL has no operation of it");
    read_shell("w", "Tile", "", &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "its Params are not public");
    read_shell("w", "Neuron", "<key>Params</key><dict><key>Type</key><string>Swish</string></dict>", &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "no operation for its Params.Type");
    read_shell("w", "Imagined", "", &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "no such type in the table");
}

static void count_problem(void *user, const mw_netplist_problem *problem)
{
    *(size_t *)user += problem->reason[0] != '\0' && problem->operation[0] != '\0';
}

static void test_operations_without_unit_are_all_reported(void)
{
    mw_error err = {0};
    size_t problems = 0;
    mw_netplist_options options = mw_netplist_defaults();
    options.as_it_is = true;
    options.report = count_problem;
    options.report_user = &problems;
    mw_graph *graph =
        parse(X4, "tensor<fp16, [1, 2, 3, 4]> a = atan(x = x)[name = string(\"a\")]; tensor<fp16, [1, 2, 3, "
                  "4]> b = erf(x = x)[name = string(\"b\")]; " OUT4 "add(x = a, y = b)[name = string(\"y\")];");
    CHECK(mw_graph_write_netplist(graph, in_folder("net.plist"), &options, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "2 operations cannot be written as units: atan \"a\": there is no unit");
    CHECK_INT(problems, 2);
    mw_graph_destroy(graph);
}

/* ---- hostile files ---- */

static void read_bytes(const char *data, size_t size, mw_error *err)
{
    put_file("hostile.plist", data, size);
    *err = (mw_error){0};
    mw_graph *graph = mw_graph_open_netplist(in_folder("hostile.plist"), NULL, err);
    CHECK((graph == NULL) == (err->status != MW_OK) && (graph != NULL || err->message[0] != '\0'));
    mw_graph_destroy(graph);
}

static void test_file_cut_at_every_byte_is_refused(void)
{
    mw_error err;
    char text[4096];
    snprintf(text, sizeof text, shell, "w", "Neuron",
             "<key>Params</key><dict><key>Type</key><string>ReLU</string></dict>");
    read_bytes(text, strlen(text), &err);
    CHECK_OK(err);
    for (size_t i = 0; i < strlen(text); i++) {
        read_bytes(text, i, &err);
        CHECK(err.status != MW_OK);
    }
}

static void test_changed_bytes_do_no_harm(void)
{
    mw_error err;
    char text[4096];
    snprintf(text, sizeof text, shell, "w", "Neuron",
             "<key>Params</key><dict><key>Type</key><string>ReLU</string></dict>");
    const size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        const char before = text[i];
        for (size_t k = 0; k < 4; k++) {
            text[i] = "<&\xff"
                      "9"[k];
            read_bytes(text, size, &err);
        }
        text[i] = before;
    }
}

static void check_refused(const char *text, const char *why)
{
    mw_error err;
    read_bytes(text, strlen(text), &err);
    check_note(err.status != MW_OK && strstr(err.message, why) != NULL, __FILE__, __LINE__, "%s, not %s", err.message,
               why);
}

static void test_dangerous_xml_is_refused_before_it_is_parsed(void)
{
    enum { MANY = 100000 };
    static char deep[MANY * 7 + 64];
    check_refused("<!DOCTYPE plist [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><plist><dict/></plist>",
                  "a document type that declares something");
    check_refused("<plist><string>&b;</string></plist>", "an entity that XML does not have");
    check_refused("<plist><dict></array></plist>", "an element ends that is not open");
    check_refused("<plist><object/></plist>", "property lists have no such element");
    check_refused("<plist><![CDATA[x]]></plist>", "a declaration");
    check_refused("<plist><dict>", "it ends with open elements");
    check_refused("<plist><!-- x", "it ends within a tag or a comment");
    check_refused("", "there is no property list");
    check_refused("bplist00\x08\x08", "a binary property list is not read");
    for (size_t i = 0; i < MANY; i++)
        memcpy(deep + 7 * i, "<array>", 7);
    check_refused(deep, "nested deeper than 16");
}

/* libplist moves what is behind each entity: a name may have some, a text of megabytes none of them. */
static void test_a_long_text_of_entities_is_refused_before_it_is_parsed(void)
{
    enum { MANY = 1 << 18 };
    char *text = malloc(5 * MANY + 100);
    REQUIRE(text != NULL);
    static const int counts[] = {0, 200, 500, MANY};
    for (int c = 0; c < 4; c++) {
        mw_error err = {0};
        char *at = text + sprintf(text, "<plist version=\"1.0\"><dict><key>Version</key><string>");
        for (int i = 0; i < counts[c]; i++, at += 5)
            memcpy(at, "&amp;", 5);
        at += sprintf(at, "</string></dict></plist>");
        CHECK((mw__net_scan(text, (size_t)(at - text), &err) == MW_OK) == (counts[c] <= 200));
        if (counts[c] > 200)
            CHECK_ERROR(err, MW_ERROR_FORMAT, "so many entities");
    }
    free(text);
}

static void test_weights_are_read_in_the_folder_alone(void)
{
    static const char conv[] =
        "<key>OutputChannels</key><integer>2</integer><key>Params</key><dict><key>KernelHeight</key><integer>1</"
        "integer>"
        "<key>KernelIndex</key><integer>0</integer><key>KernelMode</key><string>Dense</string><key>KernelOffset</key>"
        "<integer>0</integer><key>KernelType</key><string>Float16</string><key>KernelWidth</key><integer>1</integer>"
        "<key>Type</key><string>Conv</string></dict>";
    mw_error err;
    put_file("w", "12345678", 8);
    read_shell("w", "Conv", conv, &err);
    CHECK_OK(err);
    read_shell("/etc/passwd", "Conv", conv, &err);
    CHECK(err.status != MW_OK);
    read_shell("../w", "Conv", conv, &err);
    CHECK(err.status != MW_OK);
    read_shell("absent", "Conv", conv, &err);
    CHECK(err.status != MW_OK);
    put_file("short", "1234", 4);
    read_shell("short", "Conv", conv, &err);
    CHECK(err.status == MW_ERROR_FORMAT);
    CHECK(symlink("/etc/passwd", in_folder("link")) == 0);
    read_shell("link", "Conv", conv, &err);
    CHECK(err.status != MW_OK);
}

static void test_what_does_not_fit_is_refused_with_unit_and_key(void)
{
    mw_error err;
    read_shell("w", "Softmax", "<key>Params</key><dict><key>Dimension</key><string>Depth</string></dict>", &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "unit \"u\" (Softmax): there is no dimension \"Depth\"");
    read_shell("w", "Reshape", "<key>Params</key><dict><key>ReshapedBatch</key><integer>1</integer></dict>", &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "ReshapedChannel is absent or 0");
    read_shell("w", "InputView",
               "<key>Params</key><dict><key>Dimension</key><string>Width</string><key>Offset</key><integer>3</integer>"
               "<key>Size</key><integer>2</integer></dict>",
               &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "Offset 3 and Size 2 are not within 4");
    read_shell("w", "ElementWise", "<key>Params</key><dict><key>Type</key><string>Add</string></dict>", &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "1 bottoms, not 2");
    read_shell("w", "Neuron", "<key>Params</key><dict><key>Type</key><string>ELU</string></dict>", &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "EluAlpha is absent");
    read_shell("w", "SDPA", "", &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "4 or 5 bottoms must be present for SDPA");
    read_shell("w", "MatrixMultiplication", "", &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "Matrix mult. layer can only have two bottoms");
}

/* ---- memory ---- */

/* Units that become the most operations, in as few bytes as they can be said. */
static void test_memory_is_bounded_by_the_size_of_the_file(void)
{
    enum { UNITS = 2000 };
    mw_error err = {0};
    metered_bytes count = {0};
    const mw_allocator allocator = metered_allocator(&count);
    mw_netplist_options options = mw_netplist_defaults();
    options.allocator = &allocator;
    page text = page_make(1 << 20);
    page_put(&text, "<plist><dict><key>Version</key><string>1.0.9</string><key>Networks</key><array><string>n</string>"
                    "</array><key>n</key><dict><key>Inputs</key><array><string>u0</string></array><key>u0</key><dict>"
                    "<key>InputChannels</key><integer>1</integer><key>InputHeight</key><integer>1</integer>"
                    "<key>InputWidth</key><integer>4</integer></dict><key>Units</key><array>");
    for (int i = 1; i < UNITS; i++)
        page_put(&text, "<string>u%d</string>", i);
    page_put(&text,
             "</array><key>Outputs</key><array><string>y</string></array><key>y</key><dict><key>Bottom</key>"
             "<string>u%d</string></dict>",
             UNITS - 1);
    for (int i = 1; i < UNITS; i++)
        page_put(&text,
                 "<key>u%d</key><dict><key>Bottom</key><string>u%d</string><key>Type</key><string>"
                 "MinMaxNormalization</string><key>Params</key><dict><key>Dimension</key><string>Width</string>"
                 "</dict></dict>",
                 i, i - 1);
    page_put(&text, "</dict></dict></plist>");
    put_file("large.plist", text.text, text.used);
    mw_graph *graph = mw_graph_open_netplist(in_folder("large.plist"), &options, &err);
    CHECK_OK(err);
    check_note(count.most <= 64 * text.used + 65536, __FILE__, __LINE__, "%zu bytes for %zu", count.most, text.used);
    mw_graph_destroy(graph);
    CHECK_INT(count.now, 0);
    page_free(&text);
}

static void test_every_failed_allocation_is_reported(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_netplist_options options = mw_netplist_defaults();
        mw_error err = {0};
        options.allocator = &allocator;
        mw_graph *graph = mw_graph_open_netplist(MW_TESTS_DIR "/data/netplist/softsign.plist", &options, &err);
        if (failing.failed)
            CHECK(graph == NULL && err.status == MW_ERROR_MEMORY);
        else
            CHECK(graph != NULL);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
}

/* Nodes of the property list are the library's own: that none is lost is seen by the sanitizers. */
static void test_every_failed_allocation_of_a_write_is_reported(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = -1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options how = mw_graph_defaults();
        mw_error err = {0};
        how.allocator = &allocator;
        mw_graph *graph = mw_graph_create(&how, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 4, 2, 2));
        mw_output(mw_relu(mw_add(x, mw_sigmoid(x))), "y");
        failing.fail_at = failing.requests + n;
        const mw_status status = mw_graph_write_netplist(graph, in_folder("failing.plist"), NULL, &err);
        CHECK_INT(status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed) {
            CHECK(n > 50);
            break;
        }
    }
}

int main(void)
{
    if (!netplist_folder_make())
        return 1;
    RUN(test_every_published_unit_has_a_row);
    RUN(test_document_has_every_row);
    RUN(test_refused_units_say_why);
    RUN(test_operations_without_unit_are_all_reported);
    RUN(test_file_cut_at_every_byte_is_refused);
    RUN(test_changed_bytes_do_no_harm);
    RUN(test_dangerous_xml_is_refused_before_it_is_parsed);
    RUN(test_a_long_text_of_entities_is_refused_before_it_is_parsed);
    RUN(test_weights_are_read_in_the_folder_alone);
    RUN(test_what_does_not_fit_is_refused_with_unit_and_key);
    RUN(test_memory_is_bounded_by_the_size_of_the_file);
    RUN(test_every_failed_allocation_is_reported);
    RUN(test_every_failed_allocation_of_a_write_is_reported);
    netplist_folder_remove();
    return check_finish();
}
