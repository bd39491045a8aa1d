# A formula for Homebrew. It has not been run: its checksum is that of the sources of ./run release.
class Millwright < Formula
  desc "Tensor graphs trained as MIL programs, on the Apple Neural Engine or the CPU"
  homepage "https://example.invalid/millwright"
  url "https://example.invalid/millwright-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "uthash" => :build
  depends_on "xxhash" => :build
  depends_on "jpeg-turbo"
  depends_on "libplist"
  depends_on "libpng"
  depends_on "pcre2"
  depends_on "popt"
  depends_on "protobuf-c"
  depends_on "utf8proc"
  depends_on "webp"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DMW_BUILD_TESTS=OFF", "-DMW_BUILD_EXAMPLES=OFF",
           "-DMW_BUILD_BENCH=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"mw", "doctor"
  end
end
