#!/usr/bin/perl
# Checks the statements of pages about other files: links lead to existing pages and headings, every
# test that a page names is a test of that file, the index docs/README.md has every page, and the
# table of docs/architecture.md every folder.
#
#   pages.pl ROOT     Prints each wrong statement on a line; exits with 1 if there are some.
use strict;
use warnings;
binmode STDOUT, ':utf8';

my $root = shift or die "usage: pages.pl ROOT\n";
chdir $root or die "$root: $!\n";

sub contents {
  my ($path) = @_;
  open my $file, '<:utf8', $path or die "$path: $!\n";
  local $/;
  return <$file>;
}

# The anchors that GitHub makes of headings.
sub anchors {
  my ($text) = @_;
  $text =~ s/^\s*```.*?^\s*```//gms;
  my %anchors;
  for my $heading ($text =~ /^#+ (.*)$/gm) {
    $heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
    $heading = lc $heading;
    $heading =~ s/[^\w\- ]//g;
    $heading =~ tr/ /-/;
    $anchors{$heading} = 1;
  }
  return \%anchors;
}

# The names of the tests of a file: a literal may be in several parts.
sub tests {
  my ($text) = @_;
  my %tests;
  while ($text =~ /TEST_CASE(?:_METHOD)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)/g) {
    my $literals = $1;
    $tests{join '', $literals =~ /"((?:[^"\\]|\\.)*)"/g} = 1;
  }
  return \%tests;
}

my %test_files;
for my $path (split /\n/, `find tests -name '*_test.cpp'`) {
  my ($name) = $path =~ m{([^/]+)$};
  my $tests = tests(contents($path));
  $test_files{$name}{$_} = 1 for keys %$tests;
  $test_files{$name} //= {};
}

my %pages = map { $_ => contents($_) } grep { -f } ('README.md', 'CONTRIBUTING.md', glob 'docs/*.md docs/*/*.md');
my $index = $pages{'docs/README.md'} // '';
my $wrong = 0;
for my $name (map { m{^docs/([^/]+)$} } sort keys %pages) {
  next if $name eq 'README.md' || $index =~ /\(\Q$name\E[#)]/;
  print "docs/README.md: no page $name in it\n";
  $wrong = 1;
}
my %anchors = map { $_ => anchors($pages{$_}) } keys %pages;
for my $page (sort keys %pages) {
  my $text = $pages{$page};
  $text =~ s/^\s*```.*?^\s*```//gms;
  my ($folder) = $page =~ m{^(.*/)};
  while ($text =~ /\]\(([^)\s]+)\)/g) {
    my $link = $1;
    next if $link =~ /:/;
    my ($path, $anchor) = split /#/, $link, 2;
    my $to = $path eq '' ? $page : ($folder // '') . $path;
    1 while $to =~ s{[^/]+/\.\./}{};
    if (!-e $to) {
      print "$page: no file $link\n";
    } elsif (defined $anchor && exists $anchors{$to} && !$anchors{$to}{$anchor}) {
      print "$page: no heading $link\n";
    } else {
      next;
    }
    $wrong = 1;
  }
  # `reuse_test.cpp`: "a test", "another one"
  while ($text =~ m{`(?:[\w/]+/)?(\w+_test\.cpp)`:((?:\s*"[^"]*",?)+)}g) {
    my ($file, $names) = ($1, $2);
    for my $name ($names =~ /"([^"]*)"/g) {
      $name =~ s/\s+/ /g;
      next if $test_files{$file}{$name};
      print "$page: no test \"$name\" in $file\n";
      $wrong = 1;
    }
  }
}
# The table of docs/architecture.md has a row for every folder of sources, every kind of tests and
# every folder at the top, and no other. A name behind an ellipsis and a slash is a room of the last
# whole name.
if (my $architecture = $pages{'docs/architecture.md'}) {
  my ($whole, %rows) = '';
  for my $cell ($architecture =~ /^\| (`[^|]+) \|/gm) {
    my $is_room = $cell =~ s{^`\x{2026} /}{`};
    for my $name ($cell =~ m{`([\w./]+)/`}g) {
      $whole = $name unless $is_room;
      $rows{$is_room ? "$whole/$name" : $name} = 1;
    }
  }
  my %folders = map { m{^(.*)/[^/]+$} ? ($1 => 1) : () }
    split /\n/, `find analysis userspace -type f -name '*.[cht]*'`;
  $folders{$_} = 1 for grep { m{^[\w/]+$} && -e "$_/CMakeLists.txt" } glob '* tests/*';
  for my $folder (sort keys %folders) {
    next if $rows{$folder} || $folder =~ m{/(build|node_modules)\b};
    print "docs/architecture.md: no row of $folder\n";
    $wrong = 1;
  }
  for my $row (sort keys %rows) {
    next if -d $row;
    print "docs/architecture.md: a row of $row, which is not there\n";
    $wrong = 1;
  }
}
exit $wrong;
