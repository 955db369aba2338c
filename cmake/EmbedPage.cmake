# Writes the files of the web page as C++: cmake -DOUTPUT=page_files.cc -DFOLDER=src/serve/page -P EmbedPage.cmake
# Bytes are written as numbers: compilers limit the length of strings, not of arrays.
set(arrays "")
set(rows "")
macro(embed path name type)
  file(READ ${FOLDER}/${name} hex HEX)
  file(SHA256 ${FOLDER}/${name} sum)
  string(SUBSTRING ${sum} 0 16 tag)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  string(MAKE_C_IDENTIFIER ${name} id)
  string(APPEND arrays "constexpr char k_${id}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${path}\", \"${type}; charset=utf-8\", {k_${id}, sizeof(k_${id})}, R\"(\"${tag}\")\"},\n")
endmacro()
embed("/" index.html text/html)
embed("/app.js" app.js text/javascript)
embed("/style.css" style.css text/css)
file(WRITE ${OUTPUT} "#include \"serve/page/page.h\"\n\nnamespace sotto::serve {\nnamespace {\n\n${arrays}\n"
  "constexpr PageFile kFiles[] = {\n${rows}};\n\n}  // namespace\n\n"
  "std::span<const PageFile> page_files() {\n  return kFiles;\n}\n\n}  // namespace sotto::serve\n")
